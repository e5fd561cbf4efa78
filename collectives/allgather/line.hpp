#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Allgather for middle-sized blocks: the data travels in lines, 120 bytes with an epoch.
///   1. Store my block in lines into every peer's line buffer, without waiting for anybody.
///   2. Take every peer's block out of my line buffer.
/// Steps: 1 flight. Wire: 16/15 (n-1) block bytes per rank. Synchronisation: the epochs in the data; arrivals are only
/// compared. Scratch: line buffers, two parities (arena.hpp says why two are enough).
namespace baton::core {

template <class Engine>
BATON_HD void allgather_line(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    const auto place = [&](int of) { return args.recv + static_cast<std::uint64_t>(of) * args.bytes + part.begin; };
    const auto to_send = [&](int index) {
        const int peer = engine.peer_at(index + 1);
        return LinePart{peer, part.bytes, args.send + part.begin, index == 0 ? place(engine.rank()) : nullptr};
    };
    const auto to_take = [&](int index) {
        const int peer = engine.peer_at(index + 1);
        return LinePart{peer, part.bytes, nullptr, place(peer)};
    };
    // Without peers the block is copied.
    const int sent = engine.size() > 1 ? engine.size() - 1 : 1;
    if (!engine.begin_with_lines(args.arrival, sent, part.bytes, to_send)) return;
    engine.verify_arrivals();
    engine.take_lines(engine.size() - 1, part.bytes, to_take);
    engine.finish();
}

}  // namespace baton::core
