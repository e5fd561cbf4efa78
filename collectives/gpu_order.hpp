#pragma once

#include <cuda_runtime_api.h>

namespace baton::core {

/// Keeps the operations of a communicator in issue order across streams, eager and captured (decision 9): an event is
/// recorded after every operation, and an operation on another stream than the last waits for it first. Under capture
/// both become external event nodes, so a graph's launch is ordered after eager calls before it, and calls after it;
/// between streams of one capture an ordinary event makes the edge.
class GpuOrder {
public:
    GpuOrder();
    ~GpuOrder();
    GpuOrder(const GpuOrder &) = delete;
    GpuOrder &operator=(const GpuOrder &) = delete;

    void before(cudaStream_t stream);
    void after(cudaStream_t stream);
    /// Everything recorded has finished. Never true once an operation was captured: replays come without notice.
    bool idle() const;
    void drain() const; /* waits until it has */

private:
    struct Place {
        unsigned long long stream =
            0;  // cudaStreamGetId: unique for the process, unlike the handle; capturing: the handle
        unsigned long long capture = 0;  // 0: eager
        bool operator==(const Place &other) const { return stream == other.stream && capture == other.capture; }
    };
    static Place place_of(cudaStream_t stream);

    cudaEvent_t last_ = nullptr;
    cudaEvent_t last_in_capture_ = nullptr;
    Place place_;
    bool any_ = false;
    bool captured_ = false;
};

}  // namespace baton::core
