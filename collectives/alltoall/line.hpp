#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Alltoall for middle-sized blocks: the data travels in lines, 120 bytes with an epoch.
///   1. Store block p of my input in lines into peer p's line buffer, for every p, without waiting for anybody.
///   2. Take every peer's block out of my line buffer.
/// In place is safe: the input has been read before the first block is taken (begin_with_lines).
/// Steps: 1 flight. Wire: 16/15 (n-1) block bytes per rank. Synchronisation: the epochs in the data; arrivals are only
/// compared. Scratch: line buffers.
namespace baton::core {

template <class Engine>
BATON_HD void alltoall_line(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    const auto block_of = [&](int rank) { return static_cast<std::uint64_t>(rank) * args.bytes + part.begin; };
    const auto to_send = [&](int index) {
        const int peer = engine.peer_at(index + 1);
        const std::uint64_t block = block_of(peer);
        return LinePart{peer, part.bytes, args.send + block, peer == engine.rank() ? args.recv + block : nullptr};
    };
    const auto to_take = [&](int index) {
        const int peer = engine.peer_at(index + 1);
        return LinePart{peer, part.bytes, nullptr, args.recv + block_of(peer)};
    };
    if (!engine.begin_with_lines(args.arrival, engine.size(), part.bytes, to_send)) return;
    engine.verify_arrivals();
    engine.take_lines(engine.size() - 1, part.bytes, to_take);
    engine.finish();
}

}  // namespace baton::core
