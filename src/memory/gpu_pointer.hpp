#pragma once

#include "memory/memory_domain.hpp"

namespace baton::core {

/// Asks CUDA about a pointer, for domains that are not on a GPU. Fills `info` and returns true for device and managed
/// memory. Returns false for everything else, without a driver, and in a build without CUDA. Creates no context. Never
/// throws.
bool classify_on_gpu(const void *pointer, PointerInfo *info) noexcept;

}  // namespace baton::core
