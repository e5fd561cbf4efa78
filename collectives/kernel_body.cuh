#pragma once

#include "collectives/args.hpp"
#include "transport/kernel/engine.cuh"
#include "transport/kernel/launch.hpp"

namespace baton::core {

/// One block per channel runs `Body` on an engine. Body: struct with static void run(KernelEngine &, const
/// CollectiveArgs &).
template <class Body>
__global__ void __launch_bounds__(block_threads)
    collective_kernel(const __grid_constant__ CommView view, const __grid_constant__ CollectiveArgs args) {
    __shared__ KernelShared shared;
    KernelEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    Body::run(engine, args);
}

template <class Body>
const void *kernel_of() {
    return reinterpret_cast<const void *>(&collective_kernel<Body>);
}

}  // namespace baton::core
