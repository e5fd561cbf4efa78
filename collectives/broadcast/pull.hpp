#pragma once

#include "collectives/args.hpp"

/// Broadcast by pulling, on the host: every rank copies the root's buffer, all of them at once. Where each needs a
/// system call for that, the root makes a part of their copies.
///   1. Tell every peer where my buffer is (a root in place names it twice); wait for all.
///   2. Root:   copy the first part to every other rank that has named its buffer, and signal it; copy to its own
///      receive buffer; wait for a signal of every other rank.
///      Others: copy the rest, or all; signal the root; wait for its signal.
/// Steps: 1. Wire: buffer bytes per rank, read, or written as far as the root copies. Synchronisation: arrival per
/// pair, a signal each way between the root and every rank. Scratch: none.
namespace baton::core {

/// Bytes that the root copies to each of the others, so that all end together. Its own copy takes a quarter of the time
/// of one by the system (64 KiB 1.3 and 6 us, AMD EPYC), beyond the caches half of it or more (docs/experiments.md has
/// what other parts take), and in place none: so it has time for 3/(4n), 1/(2n) or 1/n of each. A system call for less
/// than 16 KiB is not worth a wait.
BATON_HD inline std::uint64_t copied_by_root(std::uint64_t bytes, int ranks, bool in_place) {
    constexpr std::uint64_t page = 4096, least = 16384, cached = 1 << 20;
    const std::uint64_t quarters = in_place ? 4 : bytes <= cached ? 3 : 2;
    const std::uint64_t part = bytes / (4 * static_cast<std::uint64_t>(ranks)) * quarters / page * page;
    return part < least ? 0 : part;
}

template <class Engine>
BATON_HD void broadcast_pull_from_root(Engine &engine, const CollectiveArgs &args) {
    const bool helps = engine.ranks_help() && engine.copies_by_system(args.arrival.send);
    const bool in_place = args.arrival.recv.word == args.arrival.send.word;
    const std::uint64_t by_root = helps ? copied_by_root(args.bytes, engine.size(), in_place) : 0;
    const auto writes_to = [&](int /*peer*/) { return by_root != 0; };
    if (!engine.begin(args.arrival) || !engine.await_all(writes_to)) return;
    for (int step = 1; step < engine.size() && by_root != 0; ++step) {
        const int peer = engine.peer_at(step);
        if (!engine.may_go_on()) return;
        if (engine.recv_of(peer).address == nullptr) continue;
        engine.copy(engine.recv_of(peer), args.send, by_root);
        engine.signal(peer, 1);
    }
    // Not copy_own(), which is for ranks that signal behind it.
    engine.copy(engine.local(args.recv), args.send, args.bytes);
    if (engine.wait_all(1)) engine.finish();
}

template <class Engine>
BATON_HD void broadcast_pull(Engine &engine, const CollectiveArgs &args) {
    if (engine.rank() == args.root) return broadcast_pull_from_root(engine, args);
    const auto reads_from = [&](int peer) { return peer == args.root; };
    if (!engine.begin(args.arrival) || !engine.await_all(reads_from)) return;
    const bool has_help =
        engine.ranks_help() && !engine.send_of(args.root).is_mapped() && args.arrival.recv.names_a_buffer();
    const bool in_place = engine.recv_of(args.root).address == engine.send_of(args.root).address;
    const std::uint64_t by_root = has_help ? copied_by_root(args.bytes, engine.size(), in_place) : 0;
    engine.copy_from(args.recv + by_root, engine.send_of(args.root) + by_root, args.bytes - by_root);
    engine.signal(args.root, 1);
    if (by_root == 0 || engine.wait(args.root, 1)) engine.finish();
}

}  // namespace baton::core
