#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Alltoall for small blocks: the data travels as packets, each with its epoch.
///   1. Store block p of my input as packets into peer p's packet buffer, for every p, without waiting for anybody.
///   2. Take every peer's block out of my packet buffer.
/// In place is safe: what was put has been read before the first block is taken (verify_arrivals).
/// Steps: 1 flight. Wire: 2 (n-1) block bytes per rank (half is epochs). Synchronisation: the epochs in the data;
/// arrivals are only compared. Scratch: packet buffers.
namespace baton::core {

template <class Engine>
BATON_HD void alltoall_packet(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival)) return;
    const Range part = engine.share(args.chunk, 16);
    engine.put_packets_to_each(args.send + part.begin, args.chunk, part.bytes);
    engine.verify_arrivals();
    const std::uint64_t own = static_cast<std::uint64_t>(engine.rank()) * args.chunk + part.begin;
    engine.copy(engine.local(args.recv + own), args.send + own, part.bytes);
    engine.take_packets_from_each(args.recv + part.begin, args.chunk, part.bytes);
    engine.finish();
}

}  // namespace baton::core
