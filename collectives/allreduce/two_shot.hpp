#pragma once

#include "collectives/args.hpp"
#include "collectives/inputs.hpp"
#include "transport/transport.hpp"

/// Allreduce in two shots within one operation: reduce-scatter by pulling, allgather by pushing.
///   1. Tell every peer where my buffers are; wait for all.
///   2. Read my n-th of the vector from every rank in rank order, combine, store the result into every rank's recv
///   buffer.
///   3. Signal all; wait for all.
/// In place is safe: a rank's n-th is read and written by its owner only, element by element.
/// Steps: 2. Wire: 2 (n-1)/n vector bytes per rank, half read, half written. Synchronisation: arrival and signal per
/// pair. Scratch: none.
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_two_shot(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range owned = split(args.bytes, copy_granule, engine.size(), engine.rank());
    const Range part = engine.share(owned.bytes, word_granule);
    const std::uint64_t place = owned.begin + part.begin;
    const auto *const sources = inputs_of_all(engine, args, place);
    // The n-th of rank r is written by r alone; starting at another rank than the others keeps the writers apart.
    const auto *const destinations = engine.destinations(engine.size(), [&](int at) {
        return (at == 0 ? engine.local(args.recv) : engine.recv_of(engine.peer_at(at))) + place;
    });
    engine.template reduce<T>(destinations, engine.size(), sources, part.bytes / sizeof(T), args.op);
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
