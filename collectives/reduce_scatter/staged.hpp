#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Reduce-scatter by pushing segments into the owner's staging and adding there while the next segment flies.
///   Segment by segment of a block, two in flight, each channel with its part of a segment:
///   1. Copy the segment of block p into my place of peer p's staging, for every p; signal.
///   2. Wait for all; combine the staged segments with my own in rank order, store; credit, if asked to.
/// Steps: block / segment. Wire: (n-1) block bytes per rank, written. Synchronisation: arrival, then per pair and step
/// a signal; where copy engines are among the ranks a credit too if a step refills the slot. Scratch: two segments per
/// peer; in place as MPI's a block for the result, as in pull.hpp.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const int rank = engine.rank();
    const auto block = [&](int of, std::uint64_t offset) {
        return args.send + static_cast<std::uint64_t>(of) * args.bytes + offset;
    };
    for (SegmentSteps at(engine, args.bytes); at.more(); at.next()) {
        const Range part = at.part();
        if (args.signals_before_reads && at.refills() && !engine.wait_credits(at.step() - 2)) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            engine.copy(engine.staging_at(peer, at.slot()) + at.staged(), block(peer, part.begin), part.bytes);
        }
        engine.signal_all(at.step());
        if (!engine.wait_all(at.step())) return;
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            return engine.local(of == rank ? block(rank, part.begin)
                                           : engine.staging_from(of, at.slot()) + at.staged());
        });
        const typename Engine::Remote destination[1] = {engine.local(args.recv + part.begin)};
        engine.template reduce<T>(destination, 1, sources, part.bytes / sizeof(T), args.op);
        if (args.signals_before_reads && at.is_refilled()) engine.credit_all(at.step());
    }
    engine.finish();
}

}  // namespace baton::core
