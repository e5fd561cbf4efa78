#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include "collective_case.hpp"
#include "support/driver_function.hpp"

#define EXPECT_CUDA(call) EXPECT_EQ(cudaSuccess, call)
#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, call)

namespace baton::test {

/// A graph of what `work` enqueues on the stream, to be launched any number of times. May be destroyed with a launch
/// under way.
class Graph {
public:
    template <class Work>
    Graph(cudaStream_t stream, cudaStreamCaptureMode mode, const Work &work) {
        EXPECT_CUDA(cudaStreamBeginCapture(stream, mode));
        work();
        cudaGraph_t graph = nullptr;
        EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
        EXPECT_CUDA(cudaGraphInstantiate(&executable_, graph, 0));
        EXPECT_CUDA(cudaGraphDestroy(graph));
    }
    ~Graph() { EXPECT_CUDA(cudaGraphExecDestroy(executable_)); }
    Graph(const Graph &) = delete;
    Graph &operator=(const Graph &) = delete;
    void launch(cudaStream_t stream) const { EXPECT_CUDA(cudaGraphLaunch(executable_, stream)); }

private:
    cudaGraphExec_t executable_ = nullptr;
};

/// Skips, with the reason, if the communicator is on the host.
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
