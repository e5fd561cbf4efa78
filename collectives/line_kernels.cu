#include "collectives/kernel_body.cuh"

namespace baton::core {

// pipeline_line, which follows a route, is among routed_kernels.cu's.
KernelChoice line_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<Mover::kernel, lies_in_lines, BATON_ALLGATHER, BATON_ALLTOALL, BATON_BROADCAST,
                        BATON_REDUCE_SCATTER, BATON_ALLREDUCE>(operation, algorithm, type);
}

}  // namespace baton::core
