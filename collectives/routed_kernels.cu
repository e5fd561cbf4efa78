#include "collectives/kernel_body.cuh"

namespace baton::core {

KernelChoice routed_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<Mover::kernel, is_routed, BATON_ALLGATHER, BATON_BROADCAST, BATON_REDUCE_SCATTER,
                        BATON_ALLREDUCE>(operation, algorithm, type);
}

}  // namespace baton::core
