#pragma once

#include "collectives/route_chain.hpp"

/// Reduce-scatter for islands that are runs of ranks: GPUs with fast links within an island and slow ones between.
///   1. Tell every peer where my buffers are; wait for all.
///   2. Block by block, sums go from island to island in rank order; an island's input is read within it
///   (route_chain.hpp).
///   3. The last island's ranks store what they finish straight into the owner's receive buffer.
///   4. Signal the ranks of my island: I have read their input. A rank of the last island signals all: their results
///   are stored. Wait for the ranks with a lane of my island and of the last.
/// In place is safe: a result is stored over elements of block 0, which have gone up before.
/// Steps: n block / segment. Wire between islands, k islands of m: k blocks as accumulators (twice the bytes of 16-bit
/// elements) from a rank to the next island, k-1 results from one of the last. In pull.hpp each rank reads n-m blocks
/// from other islands; selection compares. Synchronisation: arrival, then a signal and a credit per step from island to
/// island, a signal at the end. Scratch: two segments of the pair.
namespace baton::core {

template <class T, class Engine>
BATON_HD void reduce_scatter_two_level(Engine &engine, const RoutedArgs &args) {
    RouteChain<T, Engine> chain(engine, args, engine.size());
    if (!chain.begin()) return;
    for (std::uint64_t step = 1; step <= chain.steps(); ++step) {
        if (!chain.is_last()) {
            if (!chain.hand_on(step)) return;
            continue;
        }
        const auto piece = chain.piece(step);
        const auto recv = piece.block == engine.rank() ? engine.local(args.recv) : engine.recv_of(piece.block);
        const typename Engine::Remote destination[1] = {recv + piece.begin};
        if (!chain.complete(step, destination, 1)) return;
    }
    if (chain.has_lane()) chain.is_last() ? chain.tell_all() : chain.tell_group();
    if (!chain.wait_for_group(args.route.own_group) || !chain.wait_for_group(args.route.groups - 1)) return;
    engine.finish();
}

}  // namespace baton::core
