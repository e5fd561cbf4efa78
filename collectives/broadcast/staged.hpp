#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Broadcast through the root's staging, for memory that peers cannot reach, or only by a copy that costs more than
/// two.
///   Segment by segment of the buffer, two in flight, each channel with its part of a segment:
///   Root:   1. Copy the segment into its own staging, once for all; signal. Copy its own result.
///   Others: 1. Wait for the root's signal; copy the segment from the root's staging to my receive buffer; credit.
/// Steps: buffer / segment. Wire: the buffer's bytes to each rank, read; the root copies them once more.
/// Synchronisation: arrival, then signal and credit per step between the root and each rank. Scratch: two segments.
namespace baton::core {

template <class Engine>
BATON_HD void broadcast_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const bool is_root = engine.rank() == args.root;
    const Segments segments(engine, args.chunk);
    std::uint64_t step = 0;
    for (std::uint64_t offset = 0; offset < args.chunk; offset += segments.bytes()) {
        const Range part = segments.part(args.chunk - offset);
        const std::uint64_t begin = offset + part.begin;
        ++step;
        const auto staged = engine.staging_of(args.root, static_cast<int>(step & 1)) + part.begin;
        if (is_root) {
            if (step > 2 && !engine.wait_credits(step - 2)) return;
            engine.copy(staged, args.send + begin, part.bytes);
            engine.signal_all(step);
            engine.copy(engine.local(args.recv + begin), args.send + begin, part.bytes);
        } else {
            if (!engine.wait(args.root, step)) return;
            engine.copy_from(args.recv + begin, staged, part.bytes);
            engine.credit(args.root, step);
        }
    }
    engine.finish();
}

}  // namespace baton::core
