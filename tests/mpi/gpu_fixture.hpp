#pragma once

#include <cuda_runtime.h>

#include "collective_case.hpp"

#define EXPECT_CUDA(call) EXPECT_EQ(cudaSuccess, call)
#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, call)

namespace baton::test {

/// Skipped, with the reason, where the communicator is on the host.
class GpuTest : public CommTest {
protected:
    void SetUp() override {
        if (environment().device < 0) GTEST_SKIP() << "no GPU";
        CommTest::SetUp();
        if (!on_gpu()) GTEST_SKIP() << "the communicator is on the host";
        ASSERT_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        ASSERT_CUDA(cudaStreamCreateWithFlags(&second_, cudaStreamNonBlocking));
    }
    void TearDown() override {
        for (cudaStream_t stream : {stream_, second_})
            if (stream != nullptr) {
                EXPECT_CUDA(cudaStreamDestroy(stream));
            }
        CommTest::TearDown();
    }
    std::size_t n() const { return static_cast<std::size_t>(size()); }

    cudaStream_t stream_ = nullptr, second_ = nullptr;
};

}  // namespace baton::test
