#pragma once

#include "transport/kernel/engine.cuh"
#include "transport/kernel/reduce_unaligned.cuh"

namespace baton::core {

/// The engine of kernels for buffers whose blocks may begin at any address.
class UnalignedEngine : public KernelEngine {
public:
    using KernelEngine::KernelEngine;

    template <class T>
    __device__ void reduce(const Remote *destinations, int destination_count, const Remote *sources,
                           std::uint64_t count, int op) {
        if (failed_) return;
        reduce_unaligned<T>(reinterpret_cast<T *const *>(destinations), destination_count,
                            reinterpret_cast<const T *const *>(sources), view_.size, count, op);
    }
};

}  // namespace baton::core
