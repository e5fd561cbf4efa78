#include "collectives/kernel_body.cuh"
#include "transport/kernel/unaligned_engine.cuh"

namespace baton::core {
namespace {

template <class T>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    unaligned_kernel(const __grid_constant__ CommView view, const __grid_constant__ CollectiveArgs args) {
    wait_for_kernel_before();
    __shared__ KernelShared shared;
    UnalignedEngine engine(view, shared, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
    reduce_scatter_pull<T>(engine, args);
}

}  // namespace

KernelChoice reduce_scatter_unaligned_kernel(baton_type type) {
    // [&] as in transport/kernel/launch.cu.
    return {dispatch_type(type, [&]<class T>() { return reinterpret_cast<const void *>(&unaligned_kernel<T>); }),
            block_threads};
}

KernelChoice reduce_scatter_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<is_plain, BATON_REDUCE_SCATTER>(operation, algorithm, type);
}

}  // namespace baton::core
