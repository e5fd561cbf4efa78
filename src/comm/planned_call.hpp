#pragma once

#include <cstdint>

#include "collectives/plan.hpp"
#include "collectives/request.hpp"

namespace baton::core {

/// A call on one rank, and what it does with its buffers. Pure.
struct PlannedCall {
    const Request &request;
    const Plan &plan;
    int rank;
    int size;

    /// What it reads and writes on this rank.
    std::uint64_t send_bytes() const;
    std::uint64_t recv_bytes() const;
    /// A collective of one rank has none, a message to oneself has.
    bool has_peers() const;
    /// Which of its buffers the peers touch themselves. Others stay unregistered.
    bool needs_send() const;
    bool needs_recv() const;
    /// Of its synchronisation, which numbers an operation's steps with step_bits; rounded up.
    std::uint64_t most_steps(std::uint64_t segment_bytes) const;
    /// Whether in place its result has to be made elsewhere, or its input copied away before.
    bool makes_result_apart() const;
    bool copies_input() const;
};

}  // namespace baton::core
