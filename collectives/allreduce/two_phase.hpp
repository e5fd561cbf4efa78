#pragma once

#include "collectives/args.hpp"
#include "collectives/inputs.hpp"
#include "transport/transport.hpp"

/// Allreduce in two phases, for large vectors: does one after the other what two_shot.hpp does for each word at once.
/// The second phase stores to one peer at a time, which the links carry faster than stores to all peers among reads
/// from all (docs/experiments.md).
///   1. Tell every peer where my buffers are; wait for all.
///   2. Read my n-th of the vector from every rank in rank order, combine into my receive buffer.
///   3. Peer by peer: copy the result to its receive buffer.
///   4. Signal all; wait for all.
/// In place is safe: nobody else reads a rank's n-th.
/// Steps: 2. Wire: 2 (n-1)/n vector bytes per rank, half read, half written. Synchronisation: arrival and signal per
/// pair. Scratch: none.
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_two_phase(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range owned = split(args.bytes, copy_granule, engine.size(), engine.rank());
    const Range part = engine.share(owned.bytes, copy_granule);
    const std::uint64_t place = owned.begin + part.begin;
    reduce_inputs<T>(engine, args, place, args.recv + place, part.bytes);
    engine.order_here();
    for (int at = 1; at < engine.size(); ++at) {
        engine.copy(engine.recv_of(engine.peer_at(at)) + place, args.recv + place, part.bytes);
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
