#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "collectives/kernels.hpp"

namespace baton::core {
namespace {

/// A launch that needs more than the driver has reserved waits for all running kernels, which may wait for what this
/// rank launches next.
TEST(GpuKernels, NeedNoMoreLocalMemoryThanIsReserved) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU here";
    std::size_t reserved = 0;
    ASSERT_EQ(cudaSuccess, cudaDeviceGetLimit(&reserved, cudaLimitStackSize));
    for (const void *kernel : all_kernels()) {
        cudaFuncAttributes attributes{};
        const char *name = "";
        ASSERT_EQ(cudaSuccess, cudaFuncGetAttributes(&attributes, kernel));
        ASSERT_EQ(cudaSuccess, cudaFuncGetName(&name, kernel));
        EXPECT_LE(attributes.localSizeBytes, reserved) << name;
    }
}

}  // namespace
}  // namespace baton::core
