#pragma once

#include "collectives/args.hpp"
#include "collectives/segments.hpp"

/// Allreduce through staging, for memory that peers cannot reach, or only by a copy that costs more than two: a
/// reduce-scatter step and an allgather step in turn.
///   The vector is cut into n-ths; segment by segment of an n-th, each channel with its part of a segment:
///   1. Copy the segment of n-th p into peer p's staging; signal; wait for all; combine mine in rank order into recv
///   and, once for all peers, into my own staging.
///   2. Signal; wait for all; copy the peers' combined segments from their staging to recv.
/// Steps: 2 (vector / n) / segment. Wire: 2 (n-1)/n vector bytes per rank, half of them copied twice. Synchronisation:
/// arrival, then a signal per pair and step; 2's says that a peer has read what 1 puts there next, 1's the same of 2.
/// Scratch: one segment per peer (slot 1), and one (slot 0).
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_staged(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const int rank = engine.rank();
    const auto owned_by = [&](int of) { return split(args.bytes, 16, engine.size(), of); };
    for (SegmentSteps at(engine, owned_by(0).bytes); at.more(); at.next()) {
        // The last n-ths may be short or empty.
        const auto part_of = [&](int of) {
            const Range owned = owned_by(of);
            const Range part = at.part_of(owned.bytes);
            return Range{owned.begin + part.begin, part.bytes};
        };
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            const Range part = part_of(peer);
            engine.copy(engine.staging_at(peer, 1) + at.staged(), args.send + part.begin, part.bytes);
        }
        engine.signal_all(2 * at.step() - 1);
        if (!engine.wait_all(2 * at.step() - 1)) return;

        const Range mine = part_of(rank);
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            return engine.local(of == rank ? args.send + mine.begin : engine.staging_from(of, 1) + at.staged());
        });
        const auto *const destinations = engine.destinations(2, [&](int to) {
            return to == 0 ? engine.local(args.recv + mine.begin) : engine.staging_of(rank, 0) + at.staged();
        });
        engine.template reduce<T>(destinations, 2, sources, mine.bytes / sizeof(T), args.op);

        engine.signal_all(2 * at.step());
        if (!engine.wait_all(2 * at.step())) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            const Range part = part_of(peer);
            engine.copy_from(args.recv + part.begin, engine.staging_of(peer, 0) + at.staged(), part.bytes);
        }
    }
    engine.finish();
}

}  // namespace baton::core
