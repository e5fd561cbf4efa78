#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Alltoall through the peers' staging, for memory that peers cannot reach, or only by a copy that costs more than two.
///   Segment by segment of a block, two in flight, each channel with its part of a segment:
///   1. Copy the segment of block p into my place of peer p's staging, for every p; signal.
///   2. Wait for all; copy the peers' segments from my staging to my receive buffer; credit.
/// In place is safe: a channel writes its part of a segment of the blocks only after it has sent that of all blocks.
/// Steps: block / segment. Wire: (n-1) block bytes per rank, each copied twice. Synchronisation: arrival, then signal
/// and credit per pair and step. Scratch: two segments per peer.
namespace baton::core {

template <class Engine>
BATON_HD void alltoall_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const auto block = [&](int of) { return static_cast<std::uint64_t>(of) * args.chunk; };
    const Range whole = engine.share(args.chunk, copy_granule);
    const std::uint64_t own = block(engine.rank()) + whole.begin;
    engine.copy(engine.local(args.recv + own), args.send + own, whole.bytes);
    const Segments segments(engine, args.chunk);
    std::uint64_t step = 0;
    for (std::uint64_t offset = 0; offset < args.chunk; offset += segments.bytes()) {
        const Range part = segments.part(args.chunk - offset);
        const std::uint64_t begin = offset + part.begin;
        ++step;
        const int slot = static_cast<int>(step & 1);
        if (step > 2 && !engine.wait_credits(step - 2)) return;
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.peer_at(at);
            engine.copy(engine.staging_at(peer, slot) + part.begin, args.send + block(peer) + begin, part.bytes);
        }
        engine.signal_all(step);
        if (!engine.wait_all(step)) return;
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.peer_at(at);
            engine.copy(engine.local(args.recv + block(peer) + begin), engine.staging_from(peer, slot) + part.begin,
                        part.bytes);
        }
        engine.credit_all(step);
    }
    engine.finish();
}

}  // namespace baton::core
