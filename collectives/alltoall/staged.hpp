#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Alltoall through the peers' staging, for memory that peers cannot reach, or only by a copy that costs more than two.
///   Segment by segment of a block, two in flight, each channel with its part of a segment:
///   1. Copy the segment of block p into my place of peer p's staging, for every p; signal.
///   2. Wait for all; copy the peers' segments from my staging to my receive buffer.
/// In place is safe: a channel writes its part of a segment of the blocks only after it has sent that of all blocks.
/// Steps: block / segment. Wire: (n-1) block bytes per rank, each copied twice. Synchronisation: arrival, then a signal
/// per pair and step. Scratch: two segments per peer.
namespace baton::core {

template <class Engine>
BATON_HD void alltoall_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const auto block = [&](int of) { return static_cast<std::uint64_t>(of) * args.bytes; };
    const Range whole = engine.share(args.bytes, copy_granule);
    const std::uint64_t own = block(engine.rank()) + whole.begin;
    engine.copy(engine.local(args.recv + own), args.send + own, whole.bytes);
    for (SegmentSteps at(engine, args.bytes); at.more(); at.next()) {
        const Range part = at.part();
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy(engine.staging_at(peer, at.slot()) + at.staged(), args.send + block(peer) + part.begin,
                        part.bytes);
        }
        engine.signal_all(at.step());
        if (!engine.wait_all(at.step())) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy(engine.local(args.recv + block(peer) + part.begin),
                        engine.staging_from(peer, at.slot()) + at.staged(), part.bytes);
        }
    }
    engine.finish();
}

}  // namespace baton::core
