#pragma once

#include <cuda_runtime_api.h>

namespace baton::core {

int current_multiprocessors(); /* of the current device */

/// True while a stream records a graph.
bool is_capturing(cudaStream_t stream);

}  // namespace baton::core
