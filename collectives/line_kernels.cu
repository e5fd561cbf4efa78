#include "collectives/kernel_body.cuh"

namespace baton::core {

/// What follows a route besides is compiled with the others that do.
constexpr bool only_goes_in_lines(Algorithm algorithm) { return goes_in_lines(algorithm) && !is_routed(algorithm); }

KernelChoice line_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<only_goes_in_lines, BATON_ALLGATHER, BATON_ALLTOALL, BATON_BROADCAST, BATON_REDUCE_SCATTER,
                        BATON_ALLREDUCE>(operation, algorithm, type);
}

}  // namespace baton::core
