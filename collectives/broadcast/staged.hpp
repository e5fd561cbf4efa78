#pragma once

#include "collectives/staged_steps.hpp"

/// Broadcast through the root's staging, for memory that peers cannot reach, or only by a copy that costs more than
/// two.
///   First the early part, then segment by segment of the rest, two in flight, each channel with its part of each:
///   Root:   1. Copy it into its own staging, once for all, the early part before anybody has arrived; signal. Copy its
///              own result.
///   Others: 1. Wait for the root's signal; copy it from the root's staging to my receive buffer; credit.
/// So a short buffer is staged while peers still read the one of the operation before.
/// Steps: 1 + rest / segment. Wire: the buffer's bytes to each rank, read; the root copies them once more.
/// Synchronisation: per step a signal to each rank, and a credit from it if a step refills the slot; arrivals, which
/// the root waits for behind the early part. Scratch: early staging, two segments.
namespace baton::core {

template <class Engine>
BATON_HD void broadcast_staged_from(Engine &engine, const CollectiveArgs &args) {
    StagedSteps at(engine, args.bytes, 1);
    if (!engine.begin(args.arrival)) return;
    if (!at.is_early() && !at.await_arrivals(engine)) return;
    for (; at.more(); at.next()) {
        const Range part = at.part();
        if (at.refills() && !engine.wait_credits(at.step() - 2)) return;
        engine.copy(at.place_of(args.root, at.slot()), args.send + part.begin, part.bytes);
        engine.signal_all(at.step());
        engine.copy(engine.local(args.recv + part.begin), args.send + part.begin, part.bytes);
        if (at.is_early() && !at.await_arrivals(engine)) return;
    }
    engine.finish();
}

template <class Engine>
BATON_HD void broadcast_staged_to(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival)) return;
    engine.verify_arrivals();
    for (StagedSteps at(engine, args.bytes, 1); at.more(); at.next()) {
        const Range part = at.part();
        if (!engine.wait(args.root, at.step())) return;
        engine.copy_from(args.recv + part.begin, at.place_of(args.root, at.slot()), part.bytes);
        if (at.is_refilled()) engine.credit(args.root, at.step());
    }
    engine.finish();
}

template <class Engine>
BATON_HD void broadcast_staged(Engine &engine, const CollectiveArgs &args) {
    if (engine.rank() == args.root) {
        broadcast_staged_from(engine, args);
    } else {
        broadcast_staged_to(engine, args);
    }
}

}  // namespace baton::core
