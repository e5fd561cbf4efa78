#pragma once

#include "collectives/staged_steps.hpp"

/// Alltoall through staging, for memory that peers cannot reach, or only by a copy that costs more than two.
///   First the blocks' early part, then segment by segment of the rest, two in flight, each channel with its part of
///   each:
///   1. For every p: copy that of block p into my place of peer p's staging; the early part, before anybody has
///      arrived, into p's place of my own. Signal.
///   2. Wait for all; copy what the peers have staged for me to my receive buffer.
/// In place is safe: a channel writes its part of a step only after it has sent that part of all blocks.
/// Steps: 1 + rest / segment. Wire: (n-1) block bytes per rank, each copied twice. Synchronisation: a signal per pair
/// and step; arrivals, which are waited for behind the early part. Scratch: early staging, two segments per peer.
namespace baton::core {

template <class Engine>
BATON_HD void alltoall_staged(Engine &engine, const CollectiveArgs &args) {
    const auto begin = [&](int of, const Range &part) {
        return static_cast<std::uint64_t>(of) * args.bytes + part.begin;
    };
    StagedSteps at(engine, args.bytes, engine.size() - 1);
    if (!engine.begin(args.arrival)) return;
    if (!at.is_early() && !at.await_arrivals(engine)) return;
    for (; at.more(); at.next()) {
        const Range part = at.part();
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy(at.place_for(peer, at.slot()), args.send + begin(peer, part), part.bytes);
        }
        engine.signal_all(at.step());
        if (at.step() == 1) {  // all of my own block, while the peers' arrivals or signals fly
            const Range whole = engine.share(args.bytes, copy_granule);
            const std::uint64_t own = begin(engine.rank(), whole);
            engine.copy(engine.local(args.recv + own), args.send + own, whole.bytes);
        }
        if (at.is_early() && !at.await_arrivals(engine)) return;
        if (!engine.wait_all(at.step())) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy_from(args.recv + begin(peer, part), at.place_from(peer, at.slot()), part.bytes);
        }
    }
    engine.finish();
}

}  // namespace baton::core
