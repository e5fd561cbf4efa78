#pragma once

#include "collectives/args.hpp"
#include "transport/transport.hpp"

/// Reduce-scatter for middle-sized blocks: contributions travel in lines, 120 bytes with an epoch.
///   1. Store block p of my input in lines into peer p's line buffer, for every p, without waiting.
///   2. Take the peers' lines, combine with my own block in rank order, store.
/// In place is safe, also as in MPI (send == recv): the input has been read before the first result is stored
/// (begin_with_lines), and channels share all blocks alike.
/// Steps: 1 flight. Wire: 16/15 (n-1) block bytes per rank. Synchronisation: epochs in the data. Scratch: line buffers.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_line(Engine &engine, const CollectiveArgs &args) {
    const Range part = engine.share(args.bytes, word_granule);
    const auto block_of = [&](int rank) {
        return args.send + static_cast<std::uint64_t>(rank) * args.bytes + part.begin;
    };
    const auto to_send = [&](int index) {
        const int peer = engine.peer_at(index + 1);
        return LinePart{peer, part.bytes, block_of(peer), nullptr};
    };
    if (!engine.begin_with_lines(args.arrival, engine.size() - 1, part.bytes, to_send)) return;
    engine.verify_arrivals();
    engine.template reduce_lines_to<T>(args.recv + part.begin, block_of(engine.rank()), part.bytes / sizeof(T),
                                       args.op);
    engine.finish();
}

}  // namespace baton::core
