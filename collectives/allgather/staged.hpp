#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Allgather through staging, for memory that peers cannot reach, or only by a copy that costs more than two.
///   Segment by segment of my block, two in flight, each channel with its part of a segment:
///   1. Copy the segment into my own staging, once for all peers; signal.
///   2. Wait for all; copy the peers' segments from their staging to my receive buffer.
/// Steps: block / segment. Wire: (n-1) block bytes per rank, read; the block is copied once more. Synchronisation:
/// arrival, then a signal per pair and step. Scratch: two segments.
namespace baton::core {

template <class Engine>
BATON_HD void allgather_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const int rank = engine.rank();
    const auto place = [&](int of, std::uint64_t offset) {
        return args.recv + static_cast<std::uint64_t>(of) * args.bytes + offset;
    };
    const Range own = engine.share(args.bytes, copy_granule);
    engine.copy(engine.local(place(rank, own.begin)), args.send + own.begin, own.bytes);
    for (SegmentSteps at(engine, args.bytes); at.more(); at.next()) {
        const Range part = at.part();
        engine.copy(engine.staging_of(rank, at.slot()) + at.staged(), args.send + part.begin, part.bytes);
        engine.signal_all(at.step());
        if (!engine.wait_all(at.step())) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy_from(place(peer, part.begin), engine.staging_of(peer, at.slot()) + at.staged(), part.bytes);
        }
    }
    engine.finish();
}

}  // namespace baton::core
