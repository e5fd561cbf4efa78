#pragma once

#include <cstdint>

#include "collectives/plan.hpp"
#include "collectives/request.hpp"
#include "collectives/ways.hpp"

namespace baton::core {

/// A call on one rank, and what it does with its buffers. Pure.
class PlannedCall {
public:
    /// Keeps a reference to the request.
    PlannedCall(const Request &request, const Plan &plan, int rank, int size);

    const Request &request;
    const Plan plan;
    const int rank;
    const int size;

    /// Bytes that it reads and writes on this rank.
    std::uint64_t send_bytes() const;
    std::uint64_t recv_bytes() const;
    /// False for a collective of one rank; true for a message to oneself.
    bool has_peers() const;
    /// Whether peers touch the buffer themselves. Buffers that they do not touch stay unregistered.
    bool peers_touch_send() const;
    bool peers_touch_recv() const;
    /// Whether a recv buffer that peers cannot reach is staged; if false, the operation does without it.
    bool stages_recv() const;
    /// Whether a peer may copy a part into this rank's recv buffer. If that is not named, this rank copies all of it.
    bool peer_may_help() const;
    /// Whether this is the root of a broadcast by pull, in place: the others' shares of the copies depend on it.
    bool is_root_in_place() const;
    /// Returns how many steps its synchronisation has, rounded up. Steps of an operation are numbered with step_bits.
    std::uint64_t most_steps(std::uint64_t segment_bytes) const;
    /// Whether in place its result has to be made elsewhere, or its input copied away first.
    bool makes_result_apart() const;
    bool copies_input() const;

private:
    const Way *const way_;  // null for a barrier, where there is nothing to select
};

}  // namespace baton::core
