#pragma once

#include "collectives/args.hpp"
#include "collectives/pieces.hpp"
#include "transport/transport.hpp"

/// Allreduce in two shots by lines, 120 bytes with an epoch: reduce-scatter and allgather within one operation, without
/// a signal between them.
///   1. Store the n-th of rank p of my vector in lines into rank p's line buffer, for every p, without waiting.
///   2. Take the peers' lines of my n-th, combine with my own elements in rank order, store; and store each line of the
///      result into every peer's line buffer as it comes, behind those of step 1.
///   3. Take the other n-ths out of the peers' lines.
/// Each channel splits its own part of the vector. In place is safe: all that is sent has been read before the first
/// result is stored.
/// Steps: 2 flights. Wire: 32/15 (n-1)/n vector bytes per rank. Synchronisation: epochs in the data. Scratch: line
/// buffers.
namespace baton::core {

template <class T, class Engine>
BATON_HD void allreduce_two_shot_line(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    const std::uint64_t most = split(part.bytes, word_granule, engine.size(), 0).bytes;
    const auto to_send = [&](int index) {
        const int peer = engine.peer_at(index + 1);
        const Range piece = piece_of(part, most, peer);
        return LinePart{peer, piece.bytes, args.send + piece.begin, nullptr};
    };
    const auto to_take = [&](int index) {
        const int peer = engine.peer_at(index + 1);
        const Range piece = piece_of(part, most, peer);
        return LinePart{peer, piece.bytes, nullptr, args.recv + piece.begin, most};
    };
    if (!engine.begin_with_lines(args.arrival, engine.size() - 1, most, to_send)) return;
    engine.verify_arrivals();
    const Range mine = piece_of(part, most, engine.rank());
    engine.template reduce_and_relay_lines<T>(args.recv + mine.begin, args.send + mine.begin, mine.bytes / sizeof(T),
                                              args.op, most);
    engine.take_lines(engine.size() - 1, most, to_take);
    engine.finish();
}

}  // namespace baton::core
