#include "collectives/kernel_body.cuh"

namespace baton::core {

KernelChoice staged_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<Mover::kernel, goes_through_staging, BATON_ALLGATHER, BATON_ALLTOALL, BATON_BROADCAST,
                        BATON_REDUCE_SCATTER, BATON_ALLREDUCE>(operation, algorithm, type);
}

}  // namespace baton::core
