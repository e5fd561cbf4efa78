#pragma once

#include "collectives/staged_steps.hpp"

/// Allreduce through staging, for memory that peers cannot reach, or only by a copy that costs more than two: a
/// reduce-scatter step and an allgather step in turn.
///   The vector is cut into n-ths. First their early part, then segment by segment of the rest, each channel with its
///   part of each:
///   1. For every p: copy that of n-th p into peer p's staging; the early part, before anybody has arrived, into p's
///      place of my own. Signal; wait for all; combine mine in rank order into recv and, once for all peers, into my
///      own staging.
///   2. Signal; wait for all; copy the peers' combined ones from their staging to recv.
/// Steps: 2 (1 + rest / segment), of an n-th. Wire: 2 (n-1)/n vector bytes per rank, half of them copied twice.
/// Synchronisation: a signal per pair and step; arrivals, which are waited for behind the early part. The signal of 2
/// says that a peer has read the inputs, which the next ones may be stored over; that of 1 says so of the results
/// before. Scratch: early staging, one segment per peer (slot 1), and one (slot 0).
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_staged(Engine &engine, const CollectiveArgs &args) {
    constexpr int inputs = 1, result = 0;  // slots
    const int rank = engine.rank();
    const auto owned_by = [&](int of) { return split(args.bytes, copy_granule, engine.size(), of); };
    StagedSteps at(engine, owned_by(0).bytes, engine.size());
    if (!engine.begin(args.arrival)) return;
    if (!at.is_early() && !at.await_arrivals(engine)) return;
    for (; at.more(); at.next()) {
        // The last n-ths may be short or empty.
        const auto part_of = [&](int of) {
            const Range owned = owned_by(of);
            const Range part = at.part_of(owned.bytes);
            return Range{owned.begin + part.begin, part.bytes};
        };
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            const Range part = part_of(peer);
            engine.copy(at.place_for(peer, inputs), args.send + part.begin, part.bytes);
        }
        engine.signal_all(2 * at.step() - 1);
        if (at.is_early() && !at.await_arrivals(engine)) return;
        if (!engine.wait_all(2 * at.step() - 1)) return;

        const Range mine = part_of(rank);
        const auto *const sources = engine.sources(engine.size(), [&](int of) {
            return of == rank ? engine.local(args.send + mine.begin) : at.place_from(of, inputs);
        });
        const auto *const destinations = engine.destinations(
            2, [&](int to) { return to == 0 ? engine.local(args.recv + mine.begin) : at.place_of(rank, result); });
        engine.template reduce<T>(destinations, 2, sources, mine.bytes / sizeof(T), args.op);

        engine.signal_all(2 * at.step());
        if (!engine.wait_all(2 * at.step())) return;
        for (int index = 1; index < engine.size(); ++index) {
            const int peer = engine.peer_at(index);
            const Range part = part_of(peer);
            engine.copy_from(args.recv + part.begin, at.place_of(peer, result), part.bytes);
        }
    }
    engine.finish();
}

}  // namespace baton::core
