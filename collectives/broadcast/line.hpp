#pragma once

#include "collectives/args.hpp"
#include "collectives/pieces.hpp"
#include "transport/transport.hpp"

/// Broadcast for middle-sized buffers, scattered and relayed in lines, 120 bytes with an epoch.
///   Root:   Store share p of the buffer in lines into the line buffer of rank p, for every other rank p, without
///           waiting for anybody.
///   Others: Take my share out of the root's lines, and store each line into the line buffers of all others except the
///           root as it comes. Take the other shares out of their lines.
/// Each channel splits its own part of the buffer into shares, so that a channel's shares are at most as large as the
/// first one.
/// Steps: 2 flights. Wire: 16/15 of the buffer from the root, 16/15 (n-2)/(n-1) of it from the others.
/// Synchronisation: the epochs in the data; arrivals are only compared. Scratch: line buffers.
namespace baton::core {

template <class Engine>
BATON_HD void broadcast_line(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    const int others = engine.size() - 1;
    // Without others the only share is copied.
    const std::uint64_t most = split(part.bytes, word_granule, others > 0 ? others : 1, 0).bytes;
    // The share of the index-th rank after the root.
    const auto share_of = [&](int index) { return piece_of(part, most, index); };
    const auto rank_after_root = [&](int index) {
        const int rank = args.root + 1 + index;
        return rank < engine.size() ? rank : rank - engine.size();
    };
    if (engine.rank() == args.root) {
        const auto to_send = [&](int index) {
            const Range share = share_of(index);
            return LinePart{rank_after_root(index), share.bytes, args.send + share.begin, args.recv + share.begin};
        };
        if (!engine.begin_with_lines(args.arrival, others > 0 ? others : 1, most, to_send)) return;
        engine.verify_arrivals();
    } else {
        const int mine = engine.rank() - args.root - 1 + (engine.rank() < args.root ? engine.size() : 0);
        const auto to_take = [&](int index) {
            const int of = index < mine ? index : index + 1;
            const Range share = share_of(of);
            return LinePart{rank_after_root(of), share.bytes, nullptr, args.recv + share.begin};
        };
        if (!engine.begin(args.arrival)) return;
        engine.verify_arrivals();
        const Range share = share_of(mine);
        engine.relay_lines(args.root, args.recv + share.begin, share.bytes);
        engine.take_lines(others - 1, most, to_take);
    }
    engine.finish();
}

}  // namespace baton::core
