#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Allgather by pulling: every rank copies the peers' blocks out of their send buffers.
///   1. Tell every peer where my send buffer is; copy my own block; wait for all.
///   2. Peer by peer: copy its block to its place in my receive buffer.
///   3. Signal all: your block has been read. Wait for all.
/// Steps: 1. Wire: (n-1) block bytes per rank, read. Synchronisation: arrival and signal per pair. Scratch: none.
/// For hosts: unlike pushing it needs no addresses of receive buffers (docs/experiments.md has both).
namespace baton::core {

template <class Engine>
BATON_HD void allgather_pull(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival)) return;
    const Range part = engine.share(args.bytes, copy_granule);
    const auto place = [&](int of) { return static_cast<std::uint64_t>(of) * args.bytes + part.begin; };
    engine.copy_own(args.recv + place(engine.rank()), args.send + part.begin, part.bytes);
    if (!engine.await_all()) return;
    for (int step = 1; step < engine.size(); ++step) {
        const int peer = engine.peer_at(step);
        engine.copy_from(args.recv + place(peer), engine.send_of(peer) + part.begin, part.bytes);
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
