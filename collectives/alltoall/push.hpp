#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Alltoall by pushing: every rank copies its blocks straight into the peers' receive buffers.
///   1. Tell every peer where my receive buffer is; copy my own block meanwhile, or beside what follows. Wait
///      for all.
///   2. Peer by peer: copy block p of my input to my place in peer p's receive buffer.
///   3. Signal all; wait for all signals.
/// REQUIRES: send and recv do not overlap. Peers write over recv while this rank still sends, so in place the input is
/// copied first. Steps: 1. Wire: (n-1) block bytes per rank. Synchronisation: arrival and signal per pair. Scratch:
/// none; in place a copy of the input.
namespace baton::core {

template <class Engine>
BATON_HD void alltoall_push(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival)) return;
    const Range part = engine.share(args.bytes, copy_granule);
    const auto block = [&](int of) { return static_cast<std::uint64_t>(of) * args.bytes + part.begin; };
    const std::uint64_t place = block(engine.rank());
    engine.copy_own(args.recv + place, args.send + place, part.bytes);
    if (!engine.await_all()) return;
    for (int step = 1; step < engine.size(); ++step) {
        const int peer = engine.peer_at(step);
        engine.copy(engine.recv_of(peer) + place, args.send + block(peer), part.bytes);
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
