#pragma once

#include "collectives/pieces.hpp"
#include "collectives/route.hpp"
#include "transport/transport.hpp"

/// Broadcast from rank to rank, for large buffers: every rank sends each byte to one peer at most, which is what links
/// do best (docs/experiments.md). The order of the ranks is the route's, from the root on, all of its group first: the
/// buffer comes into every other group once. Where all links are alike, the channels take n - 1 orders in turn: in a
/// single order one rank would be the last of all channels, and the links of those before it would idle while it ends.
///   1. Where all links are alike and lines possible, with 3 ranks or more: the head of each engine's part in lines.
///      Nobody has to have arrived for that. Where channels have orders of their own the root's link is the busiest,
///      and the root is done before the others, who still end one broadcast while the head of the next one comes.
///   2. Tell every peer where my receive buffer is; wait for all.
///   3. Each engine segment by segment of the rest of its part, from the root on in that order:
///      Root:   copy it into the next rank's receive buffer, and beside that into my own; signal.
///      Others: wait for the signal of the rank before; copy the segment from my receive buffer into that of the next
///              rank, the root left out; signal.
/// Steps: segments + n - 2 flights. Wire: in one order the buffer's bytes from each rank but the last; in n - 1, from
/// the root, and about (n-2)/(n-1) of them from each of the others; 16/15 of the head's. Synchronisation: the epochs in
/// the head's data, and words back that say how much of it has been taken; arrival per pair, a signal to the next rank
/// per segment. Scratch: for the head all line buffers of a channel, as one ring.
namespace baton::core {

/// The rank before this one and the one after it, in a channel's order; the last one's next is the root.
struct PipelineNeighbours {
    int before;
    int after;
};
BATON_HD inline PipelineNeighbours pipeline_neighbours(const Route &route, int root, int channel) {
    int group = 0;
    int place = 0;
    while (route.rank_of(group, place) != root) {
        if (++place < route.size_of(group)) continue;
        place = 0;
        ++group;
    }
    const int ranks = route.begin[route.groups];
    const int first = route.begin[group];
    const int of_group = route.size_of(group);
    // The root's group comes first and goes round from the root; the others follow as they are.
    const auto rank_from_root = [&](int at) {
        return route.order[at < of_group ? first + (place + at) % of_group : (first + at) % ranks];
    };
    const int own = route.own_group == group ? (route.own_place - place + of_group) % of_group
                                             : (route.begin[route.own_group] + route.own_place - first + ranks) % ranks;
    // Where all links are alike, each channel goes on behind the root with a different one of the others, and round
    // among them.
    const int others = ranks - 1;
    const int begins = route.all_alike && others > 0 ? channel % others : 0;
    const auto rank_at = [&](int step) { return rank_from_root(step == 0 ? 0 : 1 + (begins + step - 1) % others); };
    const int own_step = own == 0 ? 0 : 1 + (own - 1 - begins + others) % others;
    return {rank_at((own_step + others) % ranks), rank_at((own_step + 1) % ranks)};
}

/// The length of an engine's segments. The last rank ends n - 2 segments behind the root, so short parts have short
/// segments, four for each rank; more steps cost more than they hide (H200: docs/experiments.md).
inline constexpr std::uint64_t longest_pipeline_segment = 64 * 1024;
inline constexpr std::uint64_t shortest_pipeline_segment = 16 * 1024;
BATON_HD inline std::uint64_t pipeline_segment(std::uint64_t bytes, int ranks) {
    const std::uint64_t wanted = split(bytes, copy_granule, 4 * ranks, 0).bytes;
    if (wanted < shortest_pipeline_segment) return shortest_pipeline_segment;
    return wanted < longest_pipeline_segment ? wanted : longest_pipeline_segment;
}
/// How much of an engine's part goes in lines: what takes as long as the others need to end the broadcast before (H200:
/// docs/experiments.md). A ring of 4 ranks holds nine tenths of it. For the rest, and with more ranks for more of it,
/// the root waits for places.
inline constexpr std::uint64_t longest_pipeline_head = 128 * 1024;
BATON_HD inline std::uint64_t pipeline_head(std::uint64_t bytes) {
    const std::uint64_t wanted = bytes / 4 / copy_granule * copy_granule;
    return wanted < longest_pipeline_head ? wanted : longest_pipeline_head;
}
/// The most steps, whatever the engines' parts are.
inline std::uint64_t pipeline_steps(std::uint64_t bytes, int ranks) {
    return bytes / longest_pipeline_segment + 4 * static_cast<std::uint64_t>(ranks) + 1;
}

/// Passes a range of the buffer in lines, in the channel's order.
template <class Engine>
BATON_HD void pass_from_rank_to_rank(Engine &engine, const RoutedArgs &args, const PipelineNeighbours &ranks,
                                     const Range &range) {
    const bool sends = engine.rank() == args.root;
    engine.pass_lines({sends ? no_rank : ranks.before, ranks.after == args.root ? no_rank : ranks.after,
                       sends ? args.send + range.begin : nullptr, args.recv + range.begin, range.bytes});
}

template <class Engine>
BATON_HD void broadcast_pipeline(Engine &engine, const RoutedArgs &args) {
    const Range part = engine.share(args.bytes, copy_granule);
    const PipelineNeighbours ranks = pipeline_neighbours(args.route, args.root, engine.channel());
    // If it has nothing to pass on, nobody waits for this engine.
    const auto writes_to = [&](int peer) { return part.bytes != 0 && peer == ranks.after && peer != args.root; };
    if (!engine.begin(args.arrival)) return;
    // Signals and what has been taken have their words per pair, so the ranks before and after must be different ones.
    // Lines of buffers that are not aligned to words take longer than segments; the bytes are all that every rank knows
    // of that.
    const bool has_head = args.begins_in_lines && args.route.all_alike && engine.size() > 2 && args.bytes % 8 == 0;
    const Range head = {part.begin, has_head ? pipeline_head(part.bytes) : 0};
    if (head.bytes != 0) {
        engine.verify_arrivals();  // who waits for lines that nobody sends would not learn of a mismatch
        pass_from_rank_to_rank(engine, args, ranks, head);
    }
    if (!engine.await_all(writes_to)) return;
    const Range rest = {part.begin + head.bytes, part.bytes - head.bytes};
    const std::uint64_t segment = pipeline_segment(part.bytes, engine.size());
    const bool alone = engine.size() == 1;
    const bool sends = engine.rank() == args.root;
    const std::byte *const source = sends ? args.send : args.recv;
    if (alone) engine.copy(engine.local(args.recv + part.begin), source + part.begin, part.bytes);
    const std::uint64_t steps = alone ? 0 : ceil_divide(rest.bytes, segment);
    for (std::uint64_t step = 1; step <= steps; ++step) {
        const Range piece = piece_of(rest, segment, static_cast<int>(step - 1));
        if (sends) engine.copy_own(args.recv + piece.begin, source + piece.begin, piece.bytes);
        if (!sends && !engine.wait(ranks.before, step)) return;
        if (ranks.after == args.root) continue;
        engine.copy(engine.recv_of(ranks.after) + piece.begin, source + piece.begin, piece.bytes);
        engine.signal(ranks.after, step);
    }
    engine.finish();
}

}  // namespace baton::core
