#pragma once

#include "collectives/staged_steps.hpp"

/// Reduce-scatter through staging: a step is added while the next one flies.
///   First the blocks' early part, then segment by segment of the rest, two in flight, each channel with its part of
///   each:
///   1. For every p: copy that of block p into my place of peer p's staging; the early part, before anybody has
///      arrived, into p's place of my own. Signal.
///   2. Wait for all; combine what the peers have staged for me with my own in rank order, store; credit, if asked to.
/// Steps: 1 + rest / segment. Wire: (n-1) block bytes per rank. Synchronisation: a signal per pair and step; where copy
/// engines are among the ranks, also a credit if a step refills the slot; arrivals, which are waited for behind the
/// early part. Scratch: early staging, which copy engines do not use, two segments per peer; in place as in MPI a block
/// for the result, as in pull.hpp.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_staged(Engine &engine, const CollectiveArgs &args) {
    const int rank = engine.rank();
    const bool credits = args.beside_copy_engines;
    StagedSteps at(engine, args.bytes, credits ? 0 : engine.size() - 1);
    if (!engine.begin(args.arrival)) return;
    if (!at.is_early() && !at.await_arrivals(engine)) return;
    for (; at.more(); at.next()) {
        const Range part = at.part();
        const auto block = [&](int of) { return args.send + static_cast<std::uint64_t>(of) * args.bytes + part.begin; };
        if (credits && at.refills() && !engine.wait_credits(at.step() - 2)) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy(at.place_for(peer, at.slot()), block(peer), part.bytes);
        }
        engine.signal_all(at.step());
        if (at.is_early() && !at.await_arrivals(engine)) return;
        if (!engine.wait_all(at.step())) return;
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            return of == rank ? engine.local(block(rank)) : at.place_from(of, at.slot());
        });
        const typename Engine::Remote destination[1] = {engine.local(args.recv + part.begin)};
        engine.template reduce<T>(destination, 1, sources, part.bytes / sizeof(T), args.op);
        if (credits && at.is_refilled()) engine.credit_all(at.step());
    }
    engine.finish();
}

}  // namespace baton::core
