#include "collectives/allreduce/push.hpp"
#include "collectives/kernel_engine.cuh"
#include "collectives/reduce_scatter/push.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/launch.hpp"

namespace baton::core {
namespace {

template <baton_operation operation, class T>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    pushed_kernel(const __grid_constant__ CommView view, const __grid_constant__ CollectiveArgs args) {
    wait_for_kernel_before();
    __shared__ KernelShared shared;
    EngineFor<operation, Algorithm::push> engine(view, shared, static_cast<int>(blockIdx.x),
                                                 static_cast<int>(gridDim.x));
    if constexpr (operation == BATON_ALLREDUCE) {
        allreduce_push<T>(engine, args);
    } else {
        reduce_scatter_push<T>(engine, args);
    }
}

template <baton_operation operation>
const void *pushed_kernel_of(baton_type type) {
    // [&] as in transport/kernel/launch.cu.
    return dispatch_type(type, [&]<class T>() { return reinterpret_cast<const void *>(&pushed_kernel<operation, T>); });
}

}  // namespace

KernelChoice pushed_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    if (!combines_pushed(operation, algorithm)) return {};
    return {operation == BATON_ALLREDUCE ? pushed_kernel_of<BATON_ALLREDUCE>(type)
                                         : pushed_kernel_of<BATON_REDUCE_SCATTER>(type),
            block_threads};
}

}  // namespace baton::core
