#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace baton::test {

/// A function of the driver as CUDA 11.0 had it (later ones of cuCtxCreate take more), so that no test links libcuda.
template <class Function>
Function *driver_function(const char *name) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    EXPECT_EQ(cudaSuccess, cudaGetDriverEntryPointByVersion(name, &function, 11000, cudaEnableDefault, &found));
    EXPECT_NE(function, nullptr) << name;
    return reinterpret_cast<Function *>(function);
}

}  // namespace baton::test
