#include "collectives/kernel_body.cuh"

namespace baton::core {

KernelChoice pushed_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<Mover::copy_engine, is_plain, BATON_REDUCE_SCATTER, BATON_ALLREDUCE>(operation, algorithm,
                                                                                             type);
}

}  // namespace baton::core
