#pragma once

#include "collectives/args.hpp"
#include "collectives/inputs.hpp"
#include "transport/transport.hpp"

/// Allreduce by pulling twice: a reduce_scatter, then an allgather of the results.
///   1. Tell every peer where my buffers are; wait for all.
///   2. Read my n-th of the vector from every rank in rank order, combine into my receive buffer; signal all.
///   3. Peer by peer: wait for it; copy its n-th out of its receive buffer.
///   4. Signal all: your n-th has been read. Wait for all.
/// In place is safe: this rank writes over a peer's n-th only after the peer has combined it, and so read it.
/// Steps: 2. Wire: 2 (n-1)/n vector bytes per rank, read. Synchronisation: arrival and two signals per pair. Scratch:
/// none.
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_pull(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const auto part_of = [&](int rank) {
        const Range owned = split(args.bytes, copy_granule, engine.size(), rank);
        const Range part = engine.share(owned.bytes, copy_granule);
        return Range{owned.begin + part.begin, part.bytes};
    };
    const Range mine = part_of(engine.rank());
    reduce_inputs<T>(engine, args, mine.begin, args.recv + mine.begin, mine.bytes);
    engine.signal_all(1);
    for (int step = 1; step < engine.size(); ++step) {
        const int peer = engine.peer_at(step);
        if (!engine.wait(peer, 1)) return;
        const Range theirs = part_of(peer);
        engine.copy_from(args.recv + theirs.begin, engine.recv_of(peer) + theirs.begin, theirs.bytes);
    }
    engine.signal_all(2);
    if (!engine.wait_all(2)) return;
    engine.finish();
}

}  // namespace baton::core
