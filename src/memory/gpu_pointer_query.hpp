#pragma once

#include <cuda.h>

#include "memory/memory_domain.hpp"

namespace baton::core {

/// Asks the driver about a pointer. Kind `invalid`: it is no device or managed memory. Needs a current context; throws
/// where there is no driver.
CUresult query_gpu_pointer(const void *pointer, PointerInfo *info);

}  // namespace baton::core
