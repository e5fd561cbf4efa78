#include "cuda/current_gpu.hpp"

#include <cuda_runtime_api.h>

#include "cuda/driver.hpp"

namespace baton::core {

int current_gpu() {
    int devices = 0;
    int device = -1;
    if (!has_driver() || cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaGetDevice(&device) != cudaSuccess) {
        cudaGetLastError();
        return -1;
    }
    return device;
}

}  // namespace baton::core
