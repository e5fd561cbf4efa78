#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Allgather through staging, for memory that peers cannot reach, or only by a copy that costs more than two.
///   Segment by segment of my chunk, two in flight, each channel with its part of a segment:
///   1. Copy the segment into my own staging, once for all peers; signal.
///   2. Wait for all; copy the peers' segments from their staging to my receive buffer; credit.
/// Steps: chunk / segment. Wire: (n-1) chunk bytes per rank, read; the chunk is copied once more. Synchronisation:
/// arrival, then signal and credit per pair and step. Scratch: two segments.
namespace baton::core {

template <class Engine>
BATON_HD void allgather_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const int rank = engine.rank();
    const auto place = [&](int of, std::uint64_t offset) {
        return args.recv + static_cast<std::uint64_t>(of) * args.chunk + offset;
    };
    const Range own = engine.share(args.chunk, copy_granule);
    engine.copy(engine.local(place(rank, own.begin)), args.send + own.begin, own.bytes);
    const Segments segments(engine, args.chunk);
    std::uint64_t step = 0;
    for (std::uint64_t offset = 0; offset < args.chunk; offset += segments.bytes()) {
        const Range part = segments.part(args.chunk - offset);
        const std::uint64_t begin = offset + part.begin;
        ++step;
        const int slot = static_cast<int>(step & 1);
        if (step > 2 && !engine.wait_credits(step - 2)) return;
        engine.copy(engine.staging_of(rank, slot) + part.begin, args.send + begin, part.bytes);
        engine.signal_all(step);
        if (!engine.wait_all(step)) return;
        for (int at = 1; at < engine.size(); ++at) {
            const int peer = engine.peer_at(at);
            engine.copy_from(place(peer, begin), engine.staging_of(peer, slot) + part.begin, part.bytes);
        }
        engine.credit_all(step);
    }
    engine.finish();
}

}  // namespace baton::core
