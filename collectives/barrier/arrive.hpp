#pragma once

#include "collectives/args.hpp"

/// Barrier by arrivals.
///   1. Tell every peer that this rank is here, and signal.  2. Wait until every peer has done both.
/// The arrival alone would hold the ranks together; the signal makes it a release: what a rank put into windows before
/// the barrier is visible to the others after it. Steps: 1 flight. Wire: 2 (n-1) lines per rank.
/// Synchronisation: arrival and signal per pair. Scratch: none.
namespace baton::core {

template <class Engine>
BATON_HD void barrier_arrive(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival)) return;
    engine.signal_all(1);
    engine.verify_arrivals();
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
