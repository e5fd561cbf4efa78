#pragma once

#include "collectives/inputs.hpp"
#include "collectives/route.hpp"
#include "collectives/segments.hpp"
#include "transport/element/reduce.hpp"

/// The half that the reductions along a route have in common: sums go up through its groups, which are runs of ranks in
/// rank order, so that every element meets the ranks in their order.
///
/// The bytes of a block are shared by as many lanes as the smallest group has ranks; a lane is the ranks at one place
/// of every group. (The other ranks of a larger group are read from, but carry nothing.) In a lane, segment by segment:
///   - a rank of the first group combines its group's input, read from its memory;
///   - the next ones let their group's input join what has come;
///   - the last group's rank finishes the elements.
/// Between groups accumulators travel, not elements: they are rounded once, at the end, so the bits are those of every
/// other algorithm. They go through the two slots of staging that a pair has, with a signal and a credit per step.
namespace baton::core {

template <class T, class Engine>
class RouteChain {
public:
    /// `blocks` of args.bytes bytes lie one after the other in `send`, and go up in this order.
    BATON_HD RouteChain(Engine &engine, const RoutedArgs &args, int blocks)
        : engine_(engine),
          args_(args),
          route_(args.route),
          blocks_(static_cast<std::uint64_t>(blocks)),
          lane_(share_of(route_.own_place)),
          segments_(engine, segment_for(accumulator_bytes(share_of(0)))) {}

    /// Begins the operation and awaits all ranks. A rank without steps uses no buffers, and not everybody waits for it.
    /// For every other rank everybody does, directly or through others.
    BATON_HD bool begin() {
        const auto uses = [&](int /*peer*/) { return steps() != 0; };
        return engine_.begin(args_.arrival) && engine_.await_all(uses);
    }

    BATON_HD bool has_lane() const { return route_.own_place < route_.lanes; }
    BATON_HD bool is_first() const { return route_.own_group == 0; }
    BATON_HD bool is_last() const { return route_.own_group == route_.groups - 1; }
    /// The lane's rank in the group below, and in the one above.
    BATON_HD int below() const { return route_.rank_of(route_.own_group - 1, route_.own_place); }
    BATON_HD int above() const { return route_.rank_of(route_.own_group + 1, route_.own_place); }

    /// Steps of the lane: they have numbers from 1 on, and a segment each.
    BATON_HD std::uint64_t steps_of_block() const { return steps_of_share(lane_); }
    BATON_HD std::uint64_t steps() const { return steps_of_block() * blocks_; }

    /// Calls up(step) and down(step) for all steps in turn, until one returns false. Results come down from the last
    /// group `lag` steps after this rank has handed on what they are made of: two for each group above. In a round a
    /// rank waits only for the group below, and for what the one above did two rounds before, so no two wait for each
    /// other.
    template <class Up, class Down>
    BATON_HD bool for_each_round(const Up &up, const Down &down) {
        const std::uint64_t lag = 2 * static_cast<std::uint64_t>(route_.groups - 1 - route_.own_group);
        for (std::uint64_t round = 1; round <= steps() + lag; ++round) {
            if (round <= steps() && !up(round)) return false;
            if (round > lag && !down(round - lag)) return false;
        }
        return true;
    }

    /// What a step works on, in this channel.
    struct Piece {
        int block;
        std::uint64_t begin;   // in the block, bytes
        std::uint64_t staged;  // where it begins in a slot, in elements; the same in all steps
        std::uint64_t count;   // elements
    };
    BATON_HD Piece piece(std::uint64_t step) const {
        const std::uint64_t offset = (step - 1) % steps_of_block() * segments_.bytes();
        const Range part = segments_.part(accumulator_bytes(lane_) - offset);
        const std::uint64_t staged = part.begin / sizeof(Accumulator<T>);
        return {static_cast<int>((step - 1) / steps_of_block()),
                lane_.begin + (offset / sizeof(Accumulator<T>) + staged) * sizeof(T), staged,
                part.bytes / sizeof(Accumulator<T>)};
    }

    /// A step up in every group but the last: joins the group's input to what has come from below, and hands that on.
    BATON_HD bool hand_on(std::uint64_t step) {
        const Piece piece = this->piece(step);
        if (!is_first() && !engine_.wait(below(), step)) return false;
        if (step > 2 && !engine_.wait_credit(above(), step - 2)) return false;
        const auto *const sources = sources_of_group(piece);
        const auto destination = engine_.staging_at(above(), slot_of(step)) + piece.staged * sizeof(Accumulator<T>);
        engine_.template accumulate<T>(destination, partial_from_below(piece, step), sources,
                                       route_.size_of(route_.own_group), piece.count, args_.op);
        engine_.signal(above(), step);
        if (!is_first()) engine_.credit(below(), step);
        return true;
    }
    /// A step up in the last group: joins its input too, and stores the finished elements.
    BATON_HD bool complete(std::uint64_t step, const typename Engine::Remote *destinations, int destination_count) {
        const Piece piece = this->piece(step);
        if (!engine_.wait(below(), step)) return false;
        const auto *const sources = sources_of_group(piece);
        engine_.template complete<T>(destinations, destination_count, partial_from_below(piece, step), sources,
                                     route_.size_of(route_.own_group), piece.count, args_.op);
        engine_.credit(below(), step);
        return true;
    }
    BATON_HD static int slot_of(std::uint64_t step) { return static_cast<int>(step & 1); }

    /// Tells the group, after the last step, that this rank's reads and writes at its ranks are done.
    BATON_HD void tell_group() {
        for (int place = 0; place < route_.size_of(route_.own_group); ++place) {
            const int mate = route_.rank_of(route_.own_group, place);
            if (mate != engine_.rank()) engine_.signal(mate, final_step());
        }
    }
    /// Likewise tells all ranks, where memory of all has been written.
    BATON_HD void tell_all() { engine_.signal_all(final_step()); }
    /// Waits for the others that have a lane in `group` to be done.
    BATON_HD bool wait_for_group(int group) {
        for (int place = 0; place < route_.lanes; ++place) {
            const int peer = route_.rank_of(group, place);
            if (peer != engine_.rank() && !engine_.wait(peer, final_step())) return false;
        }
        return true;
    }

private:
    /// With fewer bytes a step's signals cost more than its transfer.
    static constexpr std::uint64_t least_segment = 256 * 1024;

    /// So many bytes that the groups are busy together for most of the time, but enough in each step.
    BATON_HD std::uint64_t segment_for(std::uint64_t bytes) const {
        const std::uint64_t wanted = bytes * blocks_ / (4U * route_.groups);
        return wanted < least_segment ? least_segment : round_up(wanted, copy_granule);
    }
    /// The step after those of all lanes, of which the first has the most.
    BATON_HD std::uint64_t final_step() const { return steps_of_share(share_of(0)) * blocks_ + 1; }
    BATON_HD Range share_of(int lane) const { return split(args_.bytes, word_granule, route_.lanes, lane); }
    BATON_HD static std::uint64_t accumulator_bytes(const Range &share) {
        return share.bytes / sizeof(T) * sizeof(Accumulator<T>);
    }
    BATON_HD std::uint64_t steps_of_share(const Range &share) const {
        return ceil_divide(accumulator_bytes(share), segments_.bytes());
    }

    BATON_HD const typename Engine::Remote *sources_of_group(const Piece &piece) {
        const std::uint64_t place = static_cast<std::uint64_t>(piece.block) * args_.bytes + piece.begin;
        return engine_.sources(route_.size_of(route_.own_group), [&](int at) {
            return input_of(engine_, args_, route_.rank_of(route_.own_group, at)) + place;
        });
    }
    BATON_HD const std::byte *partial_from_below(const Piece &piece, std::uint64_t step) const {
        if (is_first()) return nullptr;
        return engine_.staging_from(below(), slot_of(step)) + piece.staged * sizeof(Accumulator<T>);
    }

    Engine &engine_;
    const RoutedArgs &args_;
    const Route &route_;
    const std::uint64_t blocks_;
    const Range lane_;  // this rank's share of every block
    const Segments segments_;
};

}  // namespace baton::core
