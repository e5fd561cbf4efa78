#include <algorithm>

#include "collectives/gpu_order.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "util/failure.hpp"

namespace baton::core {
namespace {

/// The edges from each of `nodes` to `to`.
struct Edges {
    Edges(const std::vector<cudaGraphNode_t> &nodes, cudaGraphNode_t target) : from(nodes), to(nodes.size(), target) {}
    std::vector<cudaGraphNode_t> from;
    std::vector<cudaGraphNode_t> to;
};

bool has_happened(cudaEvent_t event) {
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaErrorNotReady) cudaGetLastError();
    return state == cudaSuccess;
}

/// REQUIRES: the stream does not capture.
void require_current_device(cudaStream_t stream) {
    int current = -1, of_stream = -1;
    check_cuda(cudaGetDevice(&current), "cudaGetDevice");
    check_cuda(cudaStreamGetDevice(stream, &of_stream), "cudaStreamGetDevice");
    if (of_stream != current) {
        fail(BATON_ERR_ARGUMENT, "stream is of CUDA device {}, and the communicator is on device {}", of_stream,
             current);
    }
}

}  // namespace

GpuOrder::GpuOrder() {
    // A graph whose first operation is the communicator's first waits for this record.
    check_cuda(cudaEventRecord(last_.get(), marker_.get()), "recording the order event");
}

void GpuOrder::require_stream(cudaStream_t stream) {
    if (!is_capturing(stream)) require_current_device(stream);
}

GpuOrder::Tail GpuOrder::tail_of(cudaStream_t stream) {
    Tail tail;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *nodes = nullptr;
    const cudaGraphEdgeData *edges = nullptr;
    std::size_t count = 0;
    check_cuda(cudaStreamGetCaptureInfo(stream, &status, &tail.capture, &tail.graph, &nodes, &edges, &count),
               "cudaStreamGetCaptureInfo");
    // Found out here, before an operation has enqueued anything or told anybody.
    if (status == cudaStreamCaptureStatusInvalidated) check_cuda(cudaErrorStreamCaptureInvalidated, "the stream");
    if (status != cudaStreamCaptureStatusActive) return {};
    tail.nodes.assign(nodes, nodes + count);
    return tail;
}

GpuOrder::Into GpuOrder::before(cudaStream_t stream) {
    const Tail tail = tail_of(stream);
    if (tail.capture != 0) {
        before_captured(stream, tail);
        return Into::graph;
    }
    unsigned long long id = 0;
    check_cuda(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    if (id != stream_) require_current_device(stream);
    const bool launches_may_come = captured_ && has_graphs();
    // cudaStreamPerThread is one handle for the streams of all threads.
    if (captured_ || id != stream_ || stream == cudaStreamPerThread) {
        check_cuda(cudaStreamWaitEvent(stream, last_.get(), cudaEventWaitDefault),
                   "ordering a stream after the last operation");
    }
    // Once all graphs are gone, this operation waits for their last launch, and later ones need not wait any more.
    captured_ = launches_may_come;
    stream_ = id;
    return Into::stream;
}

GpuOrder::Capture *GpuOrder::find(unsigned long long capture) {
    const auto found = std::find_if(captures_.begin(), captures_.end(),
                                    [&](const Capture &one) { return one.last.capture == capture; });
    return found == captures_.end() ? nullptr : &*found;
}

std::weak_ptr<const int> GpuOrder::count_while_it_lives(cudaGraph_t graph) {
    struct Counted {
        Graphs graphs;
        std::shared_ptr<const int> alive = std::make_shared<int>();
    };
    auto counted = std::make_unique<Counted>(Counted{graphs_});
    const std::weak_ptr<const int> alive = counted->alive;
    const auto count_down = [](void *of_graph) {
        const std::unique_ptr<Counted> gone(static_cast<Counted *>(of_graph));
        gone->graphs->fetch_sub(1, std::memory_order_release);
    };
    cudaUserObject_t object = nullptr;
    check_cuda(cudaUserObjectCreate(&object, counted.get(), count_down, 1, cudaUserObjectNoDestructorSync),
               "making a graph's user object");
    counted.release()->graphs->fetch_add(1, std::memory_order_relaxed);
    const cudaError_t error = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    if (error == cudaSuccess) return alive;
    cudaUserObjectRelease(object, 1);
    fail_cuda(error, "giving a graph its user object");
}

void GpuOrder::before_captured(cudaStream_t stream, const Tail &tail) {
    const Capture *capture = find(tail.capture);
    if (capture == nullptr) {
        Capture begun;
        begun.alive = count_while_it_lives(tail.graph);
        check_cuda(cudaStreamWaitEvent(stream, last_.get(), cudaEventWaitExternal),
                   "ordering a graph after the last operation");
        begun.last = tail_of(stream);
        std::erase_if(captures_, [](const Capture &old) { return old.alive.expired(); });
        captures_.push_back(std::move(begun));
        return;
    }
    std::vector<cudaGraphNode_t> missing;
    for (cudaGraphNode_t node : capture->last.nodes) {
        if (std::find(tail.nodes.begin(), tail.nodes.end(), node) == tail.nodes.end()) missing.push_back(node);
    }
    if (missing.empty()) return;
    check_cuda(cudaStreamUpdateCaptureDependencies(stream, missing.data(), nullptr, missing.size(),
                                                   cudaStreamAddCaptureDependencies),
               "ordering a captured stream after the last operation");
}

void GpuOrder::after(cudaStream_t stream, Into into) {
    if (into == Into::graph) {
        captured_ = true;
        return after_captured(tail_of(stream));
    }
    check_cuda(cudaEventRecord(last_.get(), stream), "recording the order event");
}

void GpuOrder::after_captured(Tail tail) {
    Capture *capture = find(tail.capture);
    if (capture == nullptr) fail(BATON_ERR_CUDA, "the capture of the stream has ended while a call was captured");
    if (capture->record == nullptr) {
        check_cuda(cudaGraphAddEventRecordNode(&capture->record, tail.graph, tail.nodes.data(), tail.nodes.size(),
                                               last_.get()),
                   "recording the order event in a graph");
    } else {
        const Edges old(capture->last.nodes, capture->record);
        const Edges now(tail.nodes, capture->record);
        check_cuda(cudaGraphRemoveDependencies(tail.graph, old.from.data(), old.to.data(), nullptr, old.from.size()),
                   "moving the order event in a graph");
        check_cuda(cudaGraphAddDependencies(tail.graph, now.from.data(), now.to.data(), nullptr, now.from.size()),
                   "moving the order event in a graph");
    }
    capture->last = std::move(tail);
}

bool GpuOrder::idle() const { return !has_graphs() && has_happened(last_.get()); }

void GpuOrder::drain() const { check_cuda(cudaEventSynchronize(last_.get()), "waiting for the last operation"); }

bool GpuOrder::mark_is_done() {
    if (mark_state_ == Mark::done) return true;
    if (has_happened(last_.get()) || (mark_state_ == Mark::recorded && has_happened(mark_.get()))) {
        mark_state_ = Mark::done;
        return true;
    }
    if (mark_state_ == Mark::wanted) record_mark();
    return false;
}

/// Records mark_ on a stream of its own, since there may be no other: all operations may be in graphs. Where CUDA
/// refuses, the next mark_is_done() tries again.
void GpuOrder::record_mark() noexcept {
    const bool recorded = cudaStreamWaitEvent(marker_.get(), last_.get(), cudaEventWaitDefault) == cudaSuccess &&
                          cudaEventRecord(mark_.get(), marker_.get()) == cudaSuccess;
    if (recorded)
        mark_state_ = Mark::recorded;
    else
        cudaGetLastError();
}

}  // namespace baton::core
