#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "collectives/args.hpp"
#include "collectives/peer_addresses.hpp"
#include "collectives/plan.hpp"
#include "collectives/request.hpp"
#include "sync/comm_view.hpp"
#include "transport/copy_engine/engine.hpp"

namespace baton::core {

/// Reductions whose inputs this rank's copy engines push (push_inputs.hpp), beside the kernel that combines what comes.
class GpuPushes {
public:
    /// The lane is shared with the other operations of the communicator, which come one after the other.
    GpuPushes(const CommView &view, const CopyEngineLane &lane) : view_(view), lane_(lane) {}

    /// REQUIRES: combines_pushed() of the plan. `peers`: where their buffers are. `combine` enqueues the plan's kernel
    /// on the stream.
    void reduce(const Request &request, const Plan &plan, const CollectiveArgs &args,
                const std::vector<PeerBuffers> &peers, cudaStream_t stream,
                const std::function<void(const CollectiveArgs &)> &combine);

private:
    const CommView &view_;
    const CopyEngineLane &lane_;
    std::uint32_t pushes_ = 0;  // Arrival::push_number of the last operation that had any
};

}  // namespace baton::core
