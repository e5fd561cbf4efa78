#pragma once

#include <cuda_runtime_api.h>

#include "reference.hpp"

namespace baton::bench {

// The host's fill and checks again, on the current device and in the order of `stream`. `result` is device memory that
// holds a Check and is added to. Each element is calculated by itself, so that any alignment works.

void fill_device(const Pattern &pattern, void *destination, std::size_t bytes, cudaStream_t stream);

void check_copy_device(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                       std::size_t count, Check *result, cudaStream_t stream);

void check_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                            std::size_t count, Check *result, cudaStream_t stream);

/// Writes what check_reduction_device() compares with, so that the host can judge it.
void write_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, void *destination,
                            std::size_t count, cudaStream_t stream);

}  // namespace baton::bench
