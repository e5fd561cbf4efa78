#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "collectives/kernels.hpp"
#include "collectives/request.hpp"
#include "collectives/tuning.hpp"
#include "support/needs_gpu.hpp"

namespace baton::core {
namespace {

/// A launch that needs more than the driver has reserved waits for all running kernels, which may wait for what this
/// rank launches next.
TEST(GpuKernels, NeedNoMoreLocalMemoryThanIsReserved) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) SKIP_WITHOUT_GPU("no GPU here");
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

/// Kernels of collectives wait for each other, so there must be room for all of their blocks at once.
TEST(GpuKernels, FitAMultiprocessorTwice) {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) SKIP_WITHOUT_GPU("no GPU here");
    for (const OperationWays &tuned : tuned_operations()) {
        const baton_operation operation = tuned.operation;
        if (!is_collective(operation)) continue;
        for (const Way &way : tuned.ways) {
            if (!has_kernel(operation, way)) continue;
            const int types = reduces(operation) ? BATON_TYPE_COUNT : 1;
            for (int type = 0; type < types; ++type) {
                const KernelChoice choice = kernel_for(operation, way.algorithm, static_cast<baton_type>(type));
                ASSERT_NE(choice.kernel, nullptr) << algorithm_name(way.algorithm) << ", type " << type;
                int resident = 0;
                ASSERT_EQ(cudaSuccess,
                          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, choice.kernel, choice.threads, 0));
                EXPECT_GE(resident, resident_blocks(way.algorithm))
                    << baton_operation_name(operation) << " by " << algorithm_name(way.algorithm) << ", type " << type;
            }
        }
    }
}

}  // namespace
}  // namespace baton::core
