#pragma once

#include "collectives/args.hpp"
#include "collectives/kernels.hpp"
#include "collectives/route.hpp"
#include "transport/kernel/engine.cuh"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/launch.hpp"

namespace baton::core {

/// One block per channel runs `Body` on an engine. Body: struct with static void run(engine, const Args &).
/// `resident` blocks fit a multiprocessor.
template <class Body, int threads, int resident, class Args = CollectiveArgs>
__global__ void __launch_bounds__(threads, resident)
    collective_kernel(const __grid_constant__ CommView view, const __grid_constant__ Args args) {
    static_assert(threads > 32, "the last warp does not take packets");
    wait_for_kernel_before();
    __shared__ KernelShared shared;
    KernelEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    Body::run(engine, args);
}

template <class Body>
KernelChoice kernel_of() {
    return {reinterpret_cast<const void *>(&collective_kernel<Body, block_threads, 2>), block_threads};
}

template <class Body>
KernelChoice routed_kernel_of() {
    return {reinterpret_cast<const void *>(&collective_kernel<Body, block_threads, 2, RoutedArgs>), block_threads};
}

/// For operations that are small, and may be many at once: packets, barriers.
template <class Body>
KernelChoice small_kernel_of() {
    return {reinterpret_cast<const void *>(&collective_kernel<Body, small_block_threads, 3>), small_block_threads};
}

}  // namespace baton::core
