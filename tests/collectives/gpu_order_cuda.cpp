#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "collectives/gpu_order.hpp"
#include "cuda/check.hpp"
#include "cuda/handles.hpp"

namespace baton::core {
namespace {

/// A stream with an operation of the order that waits for release().
class HeldOperation {
public:
    ~HeldOperation() {
        release();
        cudaStreamSynchronize(stream_.get());
    }
    cudaStream_t stream() const { return stream_.get(); }
    void enqueue() {
        const auto wait = [](void *held) {
            while (static_cast<std::atomic<bool> *>(held)->load()) std::this_thread::yield();
        };
        check_cuda(cudaLaunchHostFunc(stream_.get(), wait, &held_), "cudaLaunchHostFunc");
    }
    void enqueue_ordered(GpuOrder &order) {
        const GpuOrder::Into into = order.before(stream_.get());
        enqueue();
        order.after(stream_.get(), into);
    }
    void release() { held_ = false; }

private:
    std::atomic<bool> held_ = true;
    Stream stream_ = make_stream();
};

class GpuOrderTest : public ::testing::Test {
protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU here";
        order_.emplace();
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    bool is_done_soon() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!order_->mark_is_done()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::yield();
        }
        return true;
    }
    std::optional<GpuOrder> order_;
};

TEST_F(GpuOrderTest, AMarkIsDoneOnceTheOperationsBeforeItAre) {
    EXPECT_TRUE(order_->mark_is_done());
    HeldOperation before;
    before.enqueue_ordered(*order_);
    order_->mark();
    EXPECT_FALSE(order_->mark_is_done());
    before.release();
    EXPECT_TRUE(is_done_soon());
}

/// The mark is recorded behind the operation that follows it.
TEST_F(GpuOrderTest, AMarkIsDoneWhileLaterOperationsAreUnderWay) {
    HeldOperation before, next, later;
    before.enqueue_ordered(*order_);
    order_->mark();
    next.enqueue_ordered(*order_);
    later.enqueue_ordered(*order_);
    next.release();
    EXPECT_FALSE(order_->mark_is_done());
    before.release();
    EXPECT_TRUE(is_done_soon());
    EXPECT_FALSE(order_->idle());
    order_->mark();
    EXPECT_FALSE(order_->mark_is_done()) << "what is marked now is in place of what was";
    later.release();
    EXPECT_TRUE(is_done_soon());
}

TEST_F(GpuOrderTest, LaunchesOfGraphsCountWhereTheyCameBeforeTheMark) {
    HeldOperation captured, eager;
    check_cuda(cudaStreamBeginCapture(captured.stream(), cudaStreamCaptureModeThreadLocal), "beginning a capture");
    captured.enqueue_ordered(*order_);
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(captured.stream(), &graph), "ending a capture");
    cudaGraphExec_t program = nullptr;
    check_cuda(cudaGraphInstantiate(&program, graph, 0), "cudaGraphInstantiate");

    order_->mark();
    EXPECT_TRUE(order_->mark_is_done()) << "it has not been launched";
    check_cuda(cudaGraphLaunch(program, captured.stream()), "cudaGraphLaunch");
    order_->mark();
    EXPECT_FALSE(order_->mark_is_done());
    eager.enqueue_ordered(*order_);
    eager.release();
    EXPECT_FALSE(order_->mark_is_done());
    captured.release();
    EXPECT_TRUE(is_done_soon());
    check_cuda(cudaStreamSynchronize(captured.stream()), "cudaStreamSynchronize");
    cudaGraphExecDestroy(program);
    cudaGraphDestroy(graph);
}

}  // namespace
}  // namespace baton::core
