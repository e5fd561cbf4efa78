#include "collectives/kernel_body.cuh"
#include "transport/kernel/unaligned_engine.cuh"

namespace baton::core {

KernelChoice reduce_scatter_unaligned_kernel(baton_type type) {
    // [&] as in transport/kernel/launch.cu.
    return {dispatch_type(type,
                          [&]<class T>() {
                              return kernel_address(
                                  &collective_kernel<BATON_REDUCE_SCATTER, Algorithm::pull, T, UnalignedEngine>);
                          }),
            block_threads};
}

KernelChoice reduce_scatter_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<Mover::kernel, is_plain, BATON_REDUCE_SCATTER>(operation, algorithm, type);
}

}  // namespace baton::core
