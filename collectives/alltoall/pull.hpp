#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Alltoall by pulling: every rank copies its blocks out of the peers' send buffers.
///   1. Tell every peer where my send buffer is; copy my own block; wait for all.
///   2. Peer by peer: copy the block for me out of its send buffer to its place in my receive buffer.
///   3. Signal all: your block has been read. Wait for all.
/// REQUIRES: send and recv do not overlap. Peers still read send while this rank fills recv, so in place the result
/// goes to scratch first. Steps: 1. Wire: (n-1) block bytes per rank, read. Synchronisation: arrival and signal per
/// pair. Scratch: none; in place the result's size.
namespace baton::core {

template <class Engine>
BATON_HD void alltoall_pull(Engine &engine, const CollectiveArgs &args) {
    if (!engine.begin(args.arrival)) return;
    const Range part = engine.share(args.bytes, copy_granule);
    const auto block = [&](int of) { return static_cast<std::uint64_t>(of) * args.bytes + part.begin; };
    const std::uint64_t mine = block(engine.rank());
    engine.copy_own(args.recv + mine, args.send + mine, part.bytes);
    if (!engine.await_all()) return;
    for (int step = 1; step < engine.size(); ++step) {
        const int peer = engine.peer_at(step);
        engine.copy_from(args.recv + block(peer), engine.send_of(peer) + mine, part.bytes);
    }
    engine.signal_all(1);
    if (!engine.wait_all(1)) return;
    engine.finish();
}

}  // namespace baton::core
