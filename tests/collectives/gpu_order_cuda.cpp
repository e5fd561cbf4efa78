#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "collectives/gpu_order.hpp"
#include "cuda/check.hpp"
#include "cuda/handles.hpp"
#include "support/needs_gpu.hpp"

namespace baton::core {
namespace {

/// A stream with an operation of the order that waits for release(). Tests enqueue first what they declare last: then a
/// test that ends half-way releases an operation before it waits for those behind it.
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
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) SKIP_WITHOUT_GPU("no GPU here");
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

TEST_F(GpuOrderTest, AMarkIsDoneWhileLaterOperationsAreUnderWay) {
    HeldOperation later, next, before;
    before.enqueue_ordered(*order_);
    order_->mark();
    next.enqueue_ordered(*order_);
    EXPECT_FALSE(order_->mark_is_done());
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

/// A graph with the operation, to be launched.
class Captured {
public:
    Captured(HeldOperation &operation, GpuOrder &order) : stream_(operation.stream()) {
        check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
        operation.enqueue_ordered(order);
        check_cuda(cudaStreamEndCapture(stream_, &graph_), "ending a capture");
        check_cuda(cudaGraphInstantiate(&program_, graph_, 0), "cudaGraphInstantiate");
    }
    ~Captured() {
        cudaGraphExecDestroy(program_);
        cudaGraphDestroy(graph_);
    }
    Captured(const Captured &) = delete;
    Captured &operator=(const Captured &) = delete;
    void launch() { check_cuda(cudaGraphLaunch(program_, stream_), "cudaGraphLaunch"); }

private:
    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t program_ = nullptr;
};

/// No eager operation comes, and a launch is under way whenever the mark is asked for.
TEST_F(GpuOrderTest, AMarkIsDoneWhereAllOperationsAreLaunchesOfGraphs) {
    HeldOperation later, before;
    Captured second(later, *order_), first(before, *order_);
    first.launch();
    order_->mark();
    EXPECT_FALSE(order_->mark_is_done());
    second.launch();
    EXPECT_FALSE(order_->mark_is_done());
    before.release();
    EXPECT_TRUE(is_done_soon());
    later.release();
}

TEST_F(GpuOrderTest, LaunchesOfGraphsCountWhereTheyCameBeforeTheMark) {
    HeldOperation eager, captured;
    Captured graph(captured, *order_);
    order_->mark();
    EXPECT_TRUE(order_->mark_is_done()) << "it has not been launched";
    graph.launch();
    order_->mark();
    EXPECT_FALSE(order_->mark_is_done());
    eager.enqueue_ordered(*order_);
    eager.release();
    EXPECT_FALSE(order_->mark_is_done());
    captured.release();
    EXPECT_TRUE(is_done_soon());
}

/// All that is known of a graph that is gone is that it has been launched.
TEST_F(GpuOrderTest, AnOperationComesBehindTheLastLaunchOfGraphsThatAreGone) {
    HeldOperation eager, captured;
    std::optional<Captured> graph(std::in_place, captured, *order_);
    graph->launch();
    graph.reset();
    for (int call = 0; call < 2; ++call) eager.enqueue_ordered(*order_);
    eager.release();
    EXPECT_EQ(cudaStreamQuery(eager.stream()), cudaErrorNotReady);
    captured.release();
    EXPECT_EQ(cudaStreamSynchronize(eager.stream()), cudaSuccess);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!order_->idle() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_TRUE(order_->idle());
    eager.enqueue_ordered(*order_);
    EXPECT_EQ(cudaStreamSynchronize(eager.stream()), cudaSuccess);
    EXPECT_TRUE(order_->idle());
}

/// What the stream's capture makes its next node depend on: one node, or none in an empty capture.
cudaGraphNode_t last_node(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *nodes = nullptr;
    const cudaGraphEdgeData *edges = nullptr;
    std::size_t count = 0;
    check_cuda(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &edges, &count),
               "cudaStreamGetCaptureInfo");
    return count == 1 ? nodes[0] : nullptr;
}

/// While a capture is under way others may begin and end, in any number, and their graphs live on.
TEST_F(GpuOrderTest, ACaptureKeepsItsOrderBesideManyOthers) {
    HeldOperation first, second, of_others;
    const Event fork = make_event(), join = make_event();
    check_cuda(cudaStreamBeginCapture(first.stream(), cudaStreamCaptureModeRelaxed), "beginning a capture");
    check_cuda(cudaEventRecord(fork.get(), first.stream()), "forking a capture");
    check_cuda(cudaStreamWaitEvent(second.stream(), fork.get(), 0), "forking a capture");
    first.enqueue_ordered(*order_);
    const cudaGraphNode_t before = last_node(first.stream());
    std::vector<std::unique_ptr<Captured>> others;
    for (int other = 0; other < 100; ++other) others.push_back(std::make_unique<Captured>(of_others, *order_));
    second.enqueue_ordered(*order_);
    const cudaGraphNode_t behind = last_node(second.stream());
    check_cuda(cudaEventRecord(join.get(), second.stream()), "joining a capture");
    check_cuda(cudaStreamWaitEvent(first.stream(), join.get(), 0), "joining a capture");
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(first.stream(), &graph), "ending a capture");
    ASSERT_NE(before, nullptr);
    ASSERT_NE(behind, nullptr);
    cudaGraphNode_t dependencies[8] = {};
    cudaGraphEdgeData data[8] = {};
    std::size_t count = std::size(dependencies);
    check_cuda(cudaGraphNodeGetDependencies(behind, dependencies, data, &count), "cudaGraphNodeGetDependencies");
    EXPECT_NE(std::find(dependencies, dependencies + count, before), dependencies + count);
    check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

}  // namespace
}  // namespace baton::core
