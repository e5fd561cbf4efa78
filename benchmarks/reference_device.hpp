#pragma once

#include <cstddef>
#include <cstdint>

#include "reference.hpp"

namespace baton::bench {

// The host's fill and checks again, on the current device and in the order of `stream`, a cudaStream_t. `result` is
// device memory that holds a Check and is added to. Each element is calculated by itself, so that any alignment works.
// reference_device.cu, or reference_device_none.cpp in a build without CUDA, where they throw.

void fill_device(const Pattern &pattern, void *destination, std::size_t bytes, void *stream);

void check_copy_device(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                       std::size_t count, Check *result, void *stream);

void check_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                            std::size_t count, Check *result, void *stream);

/// Writes what check_reduction_device() compares with, so that the host can judge it.
void write_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, void *destination,
                            std::size_t count, void *stream);

}  // namespace baton::bench
