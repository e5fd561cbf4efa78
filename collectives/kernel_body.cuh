#pragma once

#include <type_traits>

#include "collectives/algorithms.hpp"
#include "collectives/kernels.hpp"
#include "transport/kernel/engine.cuh"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/half_engine.cuh"
#include "transport/kernel/launch.hpp"

namespace baton::core {

template <Algorithm algorithm>
using ArgsOf = std::conditional_t<is_routed(algorithm), RoutedArgs, CollectiveArgs>;

/// The engine of a block that runs an operation's algorithm.
template <baton_operation operation, Algorithm algorithm>
using EngineFor =
    std::conditional_t<blocks_per_channel(algorithm) == 2, HalfEngine,
                       std::conditional_t<reduces_long_parts(operation, algorithm), LongPartEngine, KernelEngine>>;

/// One block per channel runs the algorithm on an engine, or two do, each for half of the channel. Two blocks of whole
/// channels fit a multiprocessor (gpu_share.cpp): with three, and 80 registers a thread, reductions of packets would
/// keep some of their values in local memory. Four blocks of halves fit; they are as fast with 64 registers as with 80
/// (docs/experiments.md).
template <baton_operation operation, Algorithm algorithm, class T, class Engine = EngineFor<operation, algorithm>>
__global__ void __launch_bounds__(block_threads, resident_blocks(algorithm))
    collective_kernel(const __grid_constant__ CommView view, const __grid_constant__ ArgsOf<algorithm> args) {
    static_assert(block_threads > warp_threads, "the last warp does not take packets");
    wait_for_kernel_before();
    __shared__ KernelShared shared;
    Engine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    run_algorithm<operation, algorithm, T>(engine, args);
}

/// Returns the kernel of this algorithm, if it is one of the operations' ways by `mover` that are `wanted`; else none.
/// Each file of kernels compiles some ways.
template <Mover mover, bool (*wanted)(Algorithm), baton_operation... operations>
KernelChoice kernel_among(baton_operation operation, Algorithm algorithm, baton_type type) {
    KernelChoice choice;
    const auto find = [&]<baton_operation one>() {
        dispatch_way<one, mover, wanted>(algorithm, type, [&]<Algorithm way, class T>() {
            // The chain from island to island is the one along a ring, by another route: the same kernel.
            constexpr bool chain = one == BATON_ALLREDUCE && way == Algorithm::two_level;
            constexpr Algorithm as = chain ? Algorithm::chain : way;
            choice = {kernel_address(&collective_kernel<one, as, T>), block_threads};
        });
    };
    ((operation == operations ? find.template operator()<operations>() : void()), ...);
    return choice;
}

}  // namespace baton::core
