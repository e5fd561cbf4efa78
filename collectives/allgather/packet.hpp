#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Allgather for small blocks: the data travels as packets, each with its epoch.
///   1. Store my block as packets into every peer's packet buffer, without waiting for anybody.
///   2. Take every peer's block out of my packet buffer.
/// Steps: 1 flight. Wire: 2 (n-1) block bytes per rank (half is epochs). Synchronisation: the epochs in the data;
/// arrivals are only compared. Scratch: packet buffers, two parities (arena.hpp says why two are enough).
namespace baton::core {

template <class Engine>
BATON_HD void allgather_packet(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    std::byte *own = args.recv + static_cast<std::uint64_t>(engine.rank()) * args.bytes + part.begin;
    if (!engine.begin_with_packets(args.arrival, args.send + part.begin, 0, part.bytes, own)) return;
    engine.verify_arrivals();
    engine.take_packets_from_each(args.recv + part.begin, args.bytes, part.bytes);
    engine.finish();
}

}  // namespace baton::core
