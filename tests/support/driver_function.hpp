#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace baton::test {

/// Finds a function of the driver as it was in CUDA 11.0 (later ones of cuCtxCreate take more), so that no test links
/// libcuda.
template <class Function>
Function *driver_function(const char *name) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    EXPECT_EQ(cudaSuccess, cudaGetDriverEntryPointByVersion(name, &function, 11000, cudaEnableDefault, &found));
    EXPECT_NE(function, nullptr) << name;
    return reinterpret_cast<Function *>(function);
}

}  // namespace baton::test
