#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Broadcast by pulling: every rank copies the root's buffer, all of them at once.
///   1. Tell every peer what I do, the root where its buffer is; wait for all.
///   2. Root:   copy to its own receive buffer; wait for a signal of every other rank.
///      Others: copy its buffer; signal it.
/// Steps: 1. Wire: buffer bytes per rank, read. Synchronisation: arrival per pair, a signal to the root per rank.
/// Scratch: none.
namespace baton::core {

template <class Engine>
BATON_HD void broadcast_pull(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range part = engine.share(args.bytes, copy_granule);
    if (engine.rank() == args.root) {
        // copy_own() is for those who signal.
        engine.copy(engine.local(args.recv + part.begin), args.send + part.begin, part.bytes);
        if (!engine.wait_all(1)) return;
    } else {
        engine.copy_from(args.recv + part.begin, engine.send_of(args.root) + part.begin, part.bytes);
        engine.signal(args.root, 1);
    }
    engine.finish();
}

}  // namespace baton::core
