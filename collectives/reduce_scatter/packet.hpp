#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Reduce-scatter for small blocks: contributions travel as packets.
///   1. Store block p of my input as packets into peer p's packet buffer, for every p, without waiting.
///   2. Take the peers' packets, combine with my own block in rank order, store.
/// In place is safe, also as in MPI (send == recv): the input has been read before the first result is stored
/// (begin_with_packets), and channels share all blocks alike.
/// Steps: 1 flight. Wire: 2 (n-1) block bytes per rank. Synchronisation: epochs in the data. Scratch: packet buffers.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_packet(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    if (!engine.begin_with_packets(args.arrival, args.send + part.begin, args.bytes, part.bytes, nullptr)) return;
    engine.verify_arrivals();
    const std::byte *own = args.send + static_cast<std::uint64_t>(engine.rank()) * args.bytes + part.begin;
    engine.template reduce_packets_to<T>(args.recv + part.begin, own, part.bytes / sizeof(T), args.op);
    engine.finish();
}

}  // namespace baton::core
