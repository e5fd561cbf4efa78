#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <vector>

#include "collectives/executor.hpp"
#include "collectives/kernels.hpp"
#include "collectives/peer_addresses.hpp"
#include "sync/comm_view.hpp"
#include "transport/copy_engine/engine.hpp"

namespace baton::core {

/// Sends and recvs on a GPU: one kernel for those that are issued together, and a copy engine for the data of a long
/// send whose destination the hosts know.
class GpuMessages {
public:
    /// `channels`: blocks that one launch may have. The lane is shared with the collectives of the communicator, whose
    /// operations come one after the other.
    GpuMessages(const CommView &view, int channels, PeerAddresses &addresses, const CopyEngineLane &lane)
        : view_(view), channels_(channels), addresses_(addresses), lane_(lane) {}

    void run(std::vector<MessageCall> calls, cudaStream_t stream);

private:
    template <int capacity>
    void launch_kernel(const std::vector<MessageCall> &calls, DirectSend *direct, cudaStream_t stream);
    std::optional<DirectSend> take_direct_send(std::vector<MessageCall> &calls, cudaStream_t stream);
    void send_directly(const DirectSend &send, cudaStream_t stream);

    const CommView &view_;
    const int channels_;
    PeerAddresses &addresses_;
    const CopyEngineLane &lane_;
};

}  // namespace baton::core
