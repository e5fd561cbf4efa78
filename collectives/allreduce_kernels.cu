#include "collectives/kernel_body.cuh"

namespace baton::core {

KernelChoice allreduce_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<Mover::kernel, is_plain, BATON_ALLREDUCE>(operation, algorithm, type);
}

}  // namespace baton::core
