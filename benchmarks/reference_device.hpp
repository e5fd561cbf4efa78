#pragma once

#include <cstddef>
#include <cstdint>

#include "reference.hpp"

namespace baton::bench {

// The host's fill and checks, on the current device and in the order of `stream`, a cudaStream_t. `result` is device
// memory with a Check, to which they add. Each element is calculated by itself, so any alignment works. In
// reference_device.cu, or in a build without CUDA in reference_device_none.cpp, where they throw.

void fill_device(const Pattern &pattern, void *destination, std::size_t bytes, void *stream);

void check_copy_device(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                       std::size_t count, Check *result, void *stream);

void check_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                            std::size_t count, Check *result, void *stream);

/// Writes what check_reduction_device() compares with, so that the host can check it.
void write_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, void *destination,
                            std::size_t count, void *stream);

}  // namespace baton::bench
