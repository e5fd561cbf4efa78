#pragma once

#include "collectives/args.hpp"
#include "collectives/fetch.hpp"
#include "collectives/inputs.hpp"
#include "transport/transport.hpp"
#include "util/overlap.hpp"

/// Allreduce in two phases, for large vectors: what two_shot.hpp does for each word at once, one after the other. The
/// links carry the second half as stores to one peer at a time, or as copies by copy engines, both faster than stores
/// to all peers among reads from all (docs/experiments.md).
///   1. Tell every peer where my buffers are; wait for all.
///   2. Read my n-th of the vector from every rank in rank order, combine into my receive buffer. Copy engines, where
///      there is room and it is not in place, fetch the peers' (fetch.hpp) to where their results will come, and
///      combine from there.
///   3. Where copy engines are among the ranks: credit all, who may store their results now; wait for the credits of
///      all.
///   4. Peer by peer: copy the result to its receive buffer.
///   5. Signal all; wait for all.
/// In place is safe: nobody else reads a rank's n-th.
/// Steps: 2. Wire: 2 (n-1)/n vector bytes per rank, half read, half written. Synchronisation: arrival and signal per
/// pair, a credit beside copy engines. Scratch: none.
namespace baton::core {

/// Combines this rank's n-th from what the copy engine fetches into the others of `recv`. False where there is no room.
template <class T, class Engine>
bool combine_fetched(Engine &engine, const CollectiveArgs &args, const Range &owned) {
    const auto part_of = [&](int rank) { return split(args.bytes, 16, engine.size(), rank); };
    const std::uint64_t room = part_of(engine.size() - 1).bytes;  // the last part is the shortest
    if (owned.bytes - head_of(owned.bytes) > room) return false;
    if (overlap(args.send, args.bytes, args.recv, args.bytes)) return false;
    reduce_fetched<T>(engine, args, owned.begin, args.recv + owned.begin, owned.bytes,
                      [&](int peer) { return args.recv + part_of(peer).begin; });
    return true;
}

template <class T, class Engine>
BATON_HD void allreduce_two_phase(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range owned = split(args.bytes, 16, engine.size(), engine.rank());
    const Range part = engine.share(owned.bytes, copy_granule);
    const std::uint64_t place = owned.begin + part.begin;
    bool combined = false;
    if constexpr (Engine::fetches) combined = combine_fetched<T>(engine, args, owned);
    if (!combined) reduce_inputs<T>(engine, args, place, args.recv + place, part.bytes);
    if (args.beside_copy_engines) engine.credit_all(1);
    engine.copy_after_reduce();
    if (args.beside_copy_engines && !engine.wait_credits(1)) return;
    for (int at = 1; at < engine.size(); ++at) {
        engine.copy(engine.recv_of(engine.peer_at(at)) + place, args.recv + place, part.bytes);
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
