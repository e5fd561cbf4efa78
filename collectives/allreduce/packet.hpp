#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Allreduce in one shot, for small vectors: every rank gets everybody's vector and adds for itself.
///   1. Store my vector as packets into every peer's packet buffer, without waiting.
///   2. Take the peers' packets, combine with mine in rank order, store.
/// Steps: 1 flight. Wire: 2 (n-1) vector bytes per rank. Synchronisation: epochs in the data. Scratch: packet buffers.
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_packet(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    if (!engine.begin_with_packets(args.arrival, args.send + part.begin, 0, part.bytes, nullptr)) return;
    engine.verify_arrivals();
    engine.template reduce_packets_to<T>(args.recv + part.begin, args.send + part.begin, part.bytes / sizeof(T),
                                         args.op);
    engine.finish();
}

}  // namespace baton::core
