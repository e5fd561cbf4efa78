#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Broadcast through the root's staging, for memory that peers cannot reach, or only by a copy that costs more than
/// two.
///   Segment by segment of the buffer, two in flight, each channel with its part of a segment:
///   Root:   1. Copy the segment into its own staging, once for all; signal. Copy its own result.
///   Others: 1. Wait for the root's signal; copy the segment from the root's staging to my receive buffer; credit.
/// Steps: buffer / segment. Wire: the buffer's bytes to each rank, read; the root copies them once more.
/// Synchronisation: arrival, then per step a signal to each rank, and a credit from it if a step refills the slot.
/// Scratch: two segments.
namespace baton::core {

template <class Engine>
BATON_HD void broadcast_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const bool is_root = engine.rank() == args.root;
    for (SegmentSteps at(engine, args.bytes); at.more(); at.next()) {
        const Range part = at.part();
        const auto staged = engine.staging_of(args.root, at.slot()) + at.staged();
        if (is_root) {
            if (at.refills() && !engine.wait_credits(at.step() - 2)) return;
            engine.copy(staged, args.send + part.begin, part.bytes);
            engine.signal_all(at.step());
            engine.copy(engine.local(args.recv + part.begin), args.send + part.begin, part.bytes);
        } else {
            if (!engine.wait(args.root, at.step())) return;
            engine.copy_from(args.recv + part.begin, staged, part.bytes);
            if (at.is_refilled()) engine.credit(args.root, at.step());
        }
    }
    engine.finish();
}

}  // namespace baton::core
