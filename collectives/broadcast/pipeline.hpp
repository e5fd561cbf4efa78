#pragma once

#include "collectives/route.hpp"
#include "transport/transport.hpp"

/// Broadcast from rank to rank, for large buffers: every link carries the buffer once, to one peer, which is what links
/// do best (docs/experiments.md). The order of the ranks is the route's, which follows fast links.
///   1. Tell every peer where my receive buffer is; wait for all.
///   2. Each engine segment by segment of its part, from the root on in that order:
///      Root:   copy it into the next rank's receive buffer, and beside that into my own; signal.
///      Others: wait for the signal of the rank before; copy the segment from my receive buffer into that of the next
///              rank, the root left out; signal.
/// Steps: segments + n - 2 flights. Wire: the buffer's bytes from each rank but the last. Synchronisation: arrival per
/// pair, a signal to the next rank per segment. Scratch: none.
namespace baton::core {

/// Of an engine's part. The last rank ends n - 2 segments behind the root; shorter ones are more steps (H200:
/// docs/experiments.md).
inline constexpr std::uint64_t pipeline_segment = 64 * 1024;

template <class Engine>
BATON_HD void broadcast_pipeline(Engine &engine, const RoutedArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range part = engine.share(args.bytes, copy_granule);
    const int before = args.route.rank_at(-1);
    const int after = args.route.rank_at(1);
    const bool alone = engine.size() == 1;
    const bool sends = engine.rank() == args.root;
    std::byte *const own = args.recv + part.begin;
    const std::byte *const source = sends ? args.send + part.begin : own;
    if (alone) engine.copy(engine.local(own), source, part.bytes);
    std::uint64_t step = 1;
    for (std::uint64_t begin = 0; begin < part.bytes && !alone; begin += pipeline_segment, ++step) {
        const std::uint64_t bytes = part.bytes - begin < pipeline_segment ? part.bytes - begin : pipeline_segment;
        if (sends) engine.copy_own(own + begin, source + begin, bytes);
        if (!sends && !engine.wait(before, step)) return;
        if (after == args.root) continue;
        engine.copy(engine.recv_of(after) + part.begin + begin, source + begin, bytes);
        engine.signal(after, step);
    }
    engine.finish();
}

}  // namespace baton::core
