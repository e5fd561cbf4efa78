#include "collectives/kernel_body.cuh"

namespace baton::core {

KernelChoice copying_kernel(baton_operation operation, Algorithm algorithm, baton_type type) {
    return kernel_among<Mover::kernel, is_plain, BATON_BARRIER, BATON_ALLGATHER, BATON_ALLTOALL, BATON_BROADCAST>(
        operation, algorithm, type);
}

}  // namespace baton::core
