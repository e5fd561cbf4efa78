#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Broadcast by scattering and relaying: the root sends every other rank a share, which that rank passes on to the
/// others as it comes. So no rank sends or receives more than the buffer once.
///   Shares are cut into segments; step s moves segment s of every share.
///   1. Tell every peer where my receive buffer is; wait for all.
///   2. Root:   step by step: copy the segment of share p into rank p's receive buffer, for every p, and beside it into
///              its own; signal all.
///      Others: step by step: wait for the root's signal; copy the segment of my share from my receive buffer into the
///              other ranks', the root left out.
///   3. Others: signal all that everything has been relayed; wait for all.
/// A short buffer, or one for a single rank, is not relayed: the root copies all of it to each.
/// The root waits for nobody after step 1, and a relay for nobody but the root, so relays keep up with it.
/// Steps: segments + 1 flight; 1 without relays. Wire: buffer bytes from the root, (n-2)/(n-1) of that from the others;
/// (n-1) times the buffer without relays. Synchronisation: arrival per pair, a signal per pair and step from the root,
/// one from the relays. Scratch: none.
///
/// What is relayed has been written during this operation: an engine's copy() reads it as data of a peer
/// (kernel/ptx.cuh).
namespace baton::core {

/// Bytes that the links carry while a signal flies: a step costs as much, and the relays of the last step come on top
/// of all, so the best number of steps is the root of bytes / bytes_a_signal. (H200: 2 us at 360 GB/s.)
inline constexpr std::uint64_t bytes_a_signal = 720 * 1024;
inline constexpr std::uint64_t most_relay_steps = 64;

/// Whether what the root saves by relays, (n-2)^2 / (n-1) of the buffer, takes longer than their two signals.
BATON_HD inline bool worth_relaying(std::uint64_t bytes, int size) {
    const auto others = static_cast<std::uint64_t>(size - 1);
    return size > 2 && bytes / others * (others - 1) * (others - 1) > 2 * bytes_a_signal;
}

/// The same on all ranks and channels.
BATON_HD inline std::uint64_t relay_steps(std::uint64_t bytes) {
    std::uint64_t steps = 1;
    while (steps < most_relay_steps && (steps + 1) * (steps + 1) * bytes_a_signal <= bytes) ++steps;
    return steps;
}

/// The part of a buffer of `bytes` that the root sends to `rank`, which relays it to the others. The root has none.
BATON_HD inline Range broadcast_share(std::uint64_t bytes, int size, int root, int rank) {
    if (rank == root) return {};
    return split(bytes, copy_granule, size - 1, rank < root ? rank : rank - 1);
}

/// This channel's part of what a step moves of `whole`.
template <class Engine>
BATON_HD Range part_of_step(const Engine &engine, const Range &whole, std::uint64_t steps, std::uint64_t step) {
    const Range segment = split(whole.bytes, copy_granule, static_cast<int>(steps), static_cast<int>(step - 1));
    const Range part = engine.share(segment.bytes, copy_granule);
    return {whole.begin + segment.begin + part.begin, part.bytes};
}

template <class Engine>
BATON_HD void broadcast_push(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const bool root = engine.rank() == args.root;
    const bool relayed = worth_relaying(args.bytes, engine.size());
    const std::byte *const from = root ? args.send : args.recv;
    const std::uint64_t steps = relayed ? relay_steps(args.bytes) : 1;
    const auto part_of = [&](int rank, std::uint64_t step) {
        const Range whole =
            relayed ? broadcast_share(args.bytes, engine.size(), args.root, rank) : Range{0, args.bytes};
        return part_of_step(engine, whole, steps, step);
    };
    if (engine.size() == 1) {
        const Range part = part_of(0, 1);
        engine.copy_own(args.recv + part.begin, args.send + part.begin, part.bytes);
    }
    for (std::uint64_t step = 1; step <= steps; ++step) {
        if (!root && !engine.wait(args.root, step)) return;
        if (!root && !relayed) break;
        Range part = part_of(engine.rank(), step);
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.spread_peer_at(at);
            if (peer == args.root) continue;
            if (root && (relayed || at == 1)) {
                part = part_of(peer, step);
                engine.copy_own(args.recv + part.begin, args.send + part.begin, part.bytes);
            }
            engine.copy(engine.recv_of(peer) + part.begin, from + part.begin, part.bytes);
        }
        if (root) engine.signal_all(step);
    }
    if (!root && relayed) {
        engine.signal_all(steps);
        if (!engine.wait_all(steps)) return;
    }
    engine.finish();
}

}  // namespace baton::core
