#pragma once

/// What headers of kernels say of CUDA's own types (cuda.hpp).
using cudaStream_t = void *;
