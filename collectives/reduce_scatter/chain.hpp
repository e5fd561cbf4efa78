#pragma once

#include "collectives/route_chain.hpp"

/// Reduce-scatter along a chain of neighbours, for a ring that keeps the order of ranks.
///   1. Tell every peer where my receive buffer is; wait for all.
///   2. Block by block, sums go up from rank 0 to rank n-1 (route_chain.hpp).
///   3. Finished segments come down from rank n-1, each to the block's owner: from staging to staging, and into the
///   receive buffer at last.
/// Up and down flow at once, in the two directions of the links; nothing goes beyond a neighbour. To send a result
/// straight from rank n-1 to its owner would be simpler, but that rank alone would send over slow links what in
/// pull.hpp each rank reads over its own. In place is safe: a result is stored over elements of block 0, which have
/// gone up before.
/// Steps: n block / segment + 2 (n-1). Wire: n blocks as accumulators up (twice the bytes of 16-bit elements), at most
/// n-1 down. Synchronisation: arrival, then a signal and a credit per step between neighbours, both ways. Scratch: two
/// segments of either neighbour.
namespace baton::core {

template <class T, class Engine>
class ReduceScatterChain {
public:
    BATON_HD ReduceScatterChain(Engine &engine, const RoutedArgs &args)
        : engine_(engine), args_(args), chain_(engine, args, engine.size()) {}

    BATON_HD void run() {
        if (!chain_.begin()) return;
        const bool done = chain_.for_each_round([&](std::uint64_t step) { return up(step); },
                                                [&](std::uint64_t step) { return down(step); });
        if (done) engine_.finish();
    }

private:
    using Chain = RouteChain<T, Engine>;
    using Piece = typename Chain::Piece;

    BATON_HD bool up(std::uint64_t step) {
        if (!chain_.is_last()) return chain_.hand_on(step);
        const Piece piece = chain_.piece(step);
        if (piece.block == engine_.rank()) {
            const typename Engine::Remote destination[1] = {engine_.local(args_.recv + piece.begin)};
            return chain_.complete(step, destination, 1);
        }
        if (!may_send_down(step)) return false;
        const typename Engine::Remote destination[1] = {destination_below(piece, step)};
        if (!chain_.complete(step, destination, 1)) return false;
        engine_.signal(chain_.below(), step);
        return true;
    }
    /// Blocks come in the order of their owners, so no more come once this rank's own has.
    BATON_HD bool down(std::uint64_t step) {
        const Piece piece = chain_.piece(step);
        if (chain_.is_last() || piece.block > engine_.rank()) return true;
        if (!engine_.wait(chain_.above(), step)) return false;
        if (piece.block < engine_.rank()) {
            if (!may_send_down(step)) return false;
            engine_.copy(destination_below(piece, step),
                         engine_.staging_from(chain_.above(), Chain::slot_of(step)) + piece.staged * sizeof(T),
                         piece.count * sizeof(T));
            engine_.signal(chain_.below(), step);
        }
        engine_.credit(chain_.above(), step);
        return true;
    }
    BATON_HD bool may_send_down(std::uint64_t step) {
        return step <= 2 || engine_.wait_credit(chain_.below(), step - 2);
    }
    BATON_HD typename Engine::Remote destination_below(const Piece &piece, std::uint64_t step) const {
        const int below = chain_.below();
        if (piece.block == below) return engine_.recv_of(below) + piece.begin;
        return engine_.staging_at(below, Chain::slot_of(step)) + piece.staged * sizeof(T);
    }

    Engine &engine_;
    const RoutedArgs &args_;
    Chain chain_;
};

}  // namespace baton::core
