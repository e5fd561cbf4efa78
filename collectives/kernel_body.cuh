#pragma once

#include "collectives/args.hpp"
#include "collectives/kernels.hpp"
#include "transport/kernel/engine.cuh"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/launch.hpp"

namespace baton::core {

/// One block per channel runs `Body` on an engine. Body: struct with static void run(engine, const CollectiveArgs &).
template <class Body>
__global__ void __launch_bounds__(block_threads)
    collective_kernel(const __grid_constant__ CommView view, const __grid_constant__ CollectiveArgs args) {
    wait_for_kernel_before();
    __shared__ KernelShared shared;
    KernelEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    Body::run(engine, args);
}

/// The same with copies in bulk; launched with bulk_shared_bytes.
template <class Body>
__global__ void __launch_bounds__(block_threads)
    bulk_collective_kernel(const __grid_constant__ CommView view, const __grid_constant__ CollectiveArgs args) {
    wait_for_kernel_before();
    extern __shared__ __align__(128) std::byte tiles[];
    __shared__ KernelShared shared;
    __shared__ BulkShared bulk;
    BulkKernelEngine engine(view, shared, bulk, tiles, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    Body::run(engine, args);
}

template <class Body>
KernelChoice kernel_of() {
    return {reinterpret_cast<const void *>(&collective_kernel<Body>), 0};
}

template <class Body>
KernelChoice bulk_kernel_of() {
    return {reinterpret_cast<const void *>(&bulk_collective_kernel<Body>), bulk_shared_bytes};
}

}  // namespace baton::core
