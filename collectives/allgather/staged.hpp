#pragma once

#include "collectives/staged_steps.hpp"

/// Allgather through staging, for memory that peers cannot reach, or only by a copy that costs more than two.
///   First my block's early part, then segment by segment of the rest, two in flight, each channel with its part of
///   each:
///   1. Copy it into my own staging, once for all peers, the early part before anybody has arrived; signal.
///   2. Wait for all; copy the peers' from their staging to my receive buffer.
/// Steps: 1 + rest / segment. Wire: (n-1) block bytes per rank, read; the block is copied once more. Synchronisation: a
/// signal per pair and step; arrivals, which are waited for behind the early part. Scratch: early staging, two
/// segments.
namespace baton::core {

template <class Engine>
BATON_HD void allgather_staged(Engine &engine, const CollectiveArgs &args) {
    const auto result = [&](int of, const Range &part) {
        return args.recv + static_cast<std::uint64_t>(of) * args.bytes + part.begin;
    };
    StagedSteps at(engine, args.bytes, 1);
    if (!engine.begin(args.arrival)) return;
    if (!at.is_early() && !at.await_arrivals(engine)) return;
    for (; at.more(); at.next()) {
        const Range part = at.part();
        engine.copy(at.place_of(engine.rank(), at.slot()), args.send + part.begin, part.bytes);
        engine.signal_all(at.step());
        if (at.step() == 1) {  // all of my own block, while the peers' arrivals or signals fly
            const Range own = engine.share(args.bytes, copy_granule);
            engine.copy(engine.local(result(engine.rank(), own)), args.send + own.begin, own.bytes);
        }
        if (at.is_early() && !at.await_arrivals(engine)) return;
        if (!engine.wait_all(at.step())) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy_from(result(peer, part), at.place_of(peer, at.slot()), part.bytes);
        }
    }
    engine.finish();
}

}  // namespace baton::core
