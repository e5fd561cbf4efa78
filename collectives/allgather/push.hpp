#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Allgather by pushing: every rank copies its block straight into the peers' receive buffers.
///   1. Tell every peer where my receive buffer is; copy my own block meanwhile, or beside what follows. Wait for
///      all: their addresses come in one flight together, but would take one each if they were looked up in turn.
///   2. Peer by peer: copy my block to its place in the peer's receive buffer.
///   3. Signal all; wait for all signals.
/// Steps: 1. Wire: (n-1) block bytes per rank. Synchronisation: arrival and signal per pair. Scratch: none.
namespace baton::core {

template <class Engine>
BATON_HD void allgather_push(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival)) return;
    const Range part = engine.share(args.bytes, copy_granule);
    const std::uint64_t place = static_cast<std::uint64_t>(engine.rank()) * args.bytes + part.begin;
    engine.copy_own(args.recv + place, args.send + part.begin, part.bytes);
    if (!engine.await_all()) return;
    for (int step = 1; step < engine.size(); ++step) {
        const int peer = engine.peer_at(step);
        engine.copy(engine.recv_of(peer) + place, args.send + part.begin, part.bytes);
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
