#pragma once

#include "collectives/route_chain.hpp"

/// Allreduce where links are slow: along a chain of neighbours (`chain`), or from island to island (`two_level`), which
/// differ in the route only.
///   1. Tell every peer where my buffers are; wait for all.
///   2. Sums go up through the groups of the route in rank order (route_chain.hpp).
///   3. The last group's rank of a lane stores the finished segment into its own receive buffer, those of its group and
///   that of the lane's rank in the group below. Every other passes on likewise what has come from above.
///   4. Signal my group; wait for its lanes.
/// Up and down flow at once, in the two directions of the links. In place is safe: an element is stored over only when
/// all have read it.
/// Not a ring of n-ths: their sums would start at different ranks, and rounding would show that (all algorithms add in
/// the order 0 ... n-1, for the same bits). The price is a vector up and one down, not 2 (n-1)/n vectors one way.
/// Steps: vector / segment + 2 (groups - 1). Wire over links between groups, per rank with a lane: vector / lanes as
/// accumulators (twice the bytes of 16-bit elements) up, vector / lanes down. Two-shot: 2 vector (n-m)/n each way, m
/// ranks in a group. Synchronisation: arrival, then signals per step between neighbours of a lane, and credits
/// downwards. Scratch: two segments of the pair.
namespace baton::core {

template <class T, class Engine>
class AllreduceChain {
public:
    BATON_HD AllreduceChain(Engine &engine, const RoutedArgs &args)
        : engine_(engine), args_(args), route_(args.route), chain_(engine, args, 1) {}

    BATON_HD void run() {
        if (!chain_.begin()) return;
        if (chain_.has_lane()) {
            const bool done = chain_.for_each_round([&](std::uint64_t step) { return up(step); },
                                                    [&](std::uint64_t step) { return down(step); });
            if (!done) return;
            chain_.tell_group();
        }
        if (!chain_.wait_for_group(route_.own_group)) return;
        engine_.finish();
    }

private:
    BATON_HD bool up(std::uint64_t step) {
        if (!chain_.is_last()) return chain_.hand_on(step);
        const std::uint64_t place = chain_.piece(step).begin;
        const auto *const destinations = engine_.destinations(1 + receivers(), [&](int at) {
            return (at == 0 ? engine_.local(args_.recv) : engine_.recv_of(receiver(at - 1))) + place;
        });
        if (!chain_.complete(step, destinations, 1 + receivers())) return false;
        engine_.signal(chain_.below(), step);
        return true;
    }
    BATON_HD bool down(std::uint64_t step) {
        if (chain_.is_last()) return true;
        if (!engine_.wait(chain_.above(), step)) return false;
        const auto piece = chain_.piece(step);
        for (int at = 0; at < receivers(); ++at) {
            engine_.copy(engine_.recv_of(receiver(at)) + piece.begin, args_.recv + piece.begin,
                         piece.count * sizeof(T));
        }
        if (!chain_.is_first()) engine_.signal(chain_.below(), step);
        return true;
    }
    /// How many ranks this one stores results at: first the next one down, for which others wait, then its group.
    BATON_HD int receivers() const { return route_.size_of(route_.own_group) - (chain_.is_first() ? 1 : 0); }
    BATON_HD int receiver(int at) const {
        if (chain_.is_first()) ++at;
        if (at == 0) return chain_.below();
        return route_.rank_of(route_.own_group, (route_.own_place + at) % route_.size_of(route_.own_group));
    }

    Engine &engine_;
    const RoutedArgs &args_;
    const Route &route_;
    RouteChain<T, Engine> chain_;
};

}  // namespace baton::core
