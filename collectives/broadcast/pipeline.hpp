#pragma once

#include "collectives/route.hpp"
#include "transport/transport.hpp"

/// Broadcast from rank to rank, for large buffers: every link carries the buffer once, to one peer, which is what links
/// do best (docs/experiments.md). The order of the ranks is the route's, from the root on, all of its group first: the
/// buffer comes into every other group once.
///   1. Tell every peer where my receive buffer is; wait for all.
///   2. Each engine segment by segment of its part, from the root on in that order:
///      Root:   copy it into the next rank's receive buffer, and beside that into my own; signal.
///      Others: wait for the signal of the rank before; copy the segment from my receive buffer into that of the next
///              rank, the root left out; signal.
/// Steps: segments + n - 2 flights. Wire: the buffer's bytes from each rank but the last. Synchronisation: arrival per
/// pair, a signal to the next rank per segment. Scratch: none.
namespace baton::core {

/// The rank before this one and the one after it; the last one's next is the root.
struct PipelineNeighbours {
    int before;
    int after;
};
BATON_HD inline PipelineNeighbours pipeline_neighbours(const Route &route, int root) {
    int group = 0;
    int place = 0;
    while (route.rank_of(group, place) != root) {
        if (++place < route.size_of(group)) continue;
        place = 0;
        ++group;
    }
    const int of_group = route.size_of(group);
    const int last_of_group = route.rank_of(group, (place + of_group - 1) % of_group);
    const int next = (route.own_group + 1) % route.groups;
    const int first_of_next = next == group ? root : route.rank_of(next, 0);
    const int own = route.own_place;
    if (route.own_group == group) {
        const int after = (own + 1) % of_group;
        return {route.rank_of(group, (own + of_group - 1) % of_group),
                after == place ? first_of_next : route.rank_of(group, after)};
    }
    const int previous = (route.own_group + route.groups - 1) % route.groups;
    const int last_of_previous =
        previous == group ? last_of_group : route.rank_of(previous, route.size_of(previous) - 1);
    return {own == 0 ? last_of_previous : route.rank_of(route.own_group, own - 1),
            own + 1 == route.size_of(route.own_group) ? first_of_next : route.rank_of(route.own_group, own + 1)};
}

/// Of an engine's part. The last rank ends n - 2 segments behind the root, so short parts have short ones, four for
/// each rank; more steps cost more than they hide (H200: docs/experiments.md).
inline constexpr std::uint64_t longest_pipeline_segment = 64 * 1024;
inline constexpr std::uint64_t shortest_pipeline_segment = 16 * 1024;
BATON_HD inline std::uint64_t pipeline_segment(std::uint64_t bytes, int ranks) {
    const std::uint64_t wanted = split(bytes, copy_granule, 4 * ranks, 0).bytes;
    if (wanted < shortest_pipeline_segment) return shortest_pipeline_segment;
    return wanted < longest_pipeline_segment ? wanted : longest_pipeline_segment;
}
/// At most, whatever the engines' parts are.
inline std::uint64_t pipeline_steps(std::uint64_t bytes, int ranks) {
    return bytes / longest_pipeline_segment + 4 * static_cast<std::uint64_t>(ranks) + 1;
}

template <class Engine>
BATON_HD void broadcast_pipeline(Engine &engine, const RoutedArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const Range part = engine.share(args.bytes, copy_granule);
    const PipelineNeighbours ranks = pipeline_neighbours(args.route, args.root);
    const std::uint64_t segment = pipeline_segment(part.bytes, engine.size());
    const bool alone = engine.size() == 1;
    const bool sends = engine.rank() == args.root;
    std::byte *const own = args.recv + part.begin;
    const std::byte *const source = sends ? args.send + part.begin : own;
    if (alone) engine.copy(engine.local(own), source, part.bytes);
    std::uint64_t step = 1;
    for (std::uint64_t begin = 0; begin < part.bytes && !alone; begin += segment, ++step) {
        const std::uint64_t bytes = part.bytes - begin < segment ? part.bytes - begin : segment;
        if (sends) engine.copy_own(own + begin, source + begin, bytes);
        if (!sends && !engine.wait(ranks.before, step)) return;
        if (ranks.after == args.root) continue;
        engine.copy(engine.recv_of(ranks.after) + part.begin + begin, source + begin, bytes);
        engine.signal(ranks.after, step);
    }
    engine.finish();
}

}  // namespace baton::core
