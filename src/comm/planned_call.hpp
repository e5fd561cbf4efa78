#pragma once

#include <cstdint>

#include "collectives/plan.hpp"
#include "collectives/request.hpp"
#include "collectives/ways.hpp"

namespace baton::core {

/// A call on one rank, and what it does with its buffers. Pure.
class PlannedCall {
public:
    /// Refers to the request.
    PlannedCall(const Request &request, const Plan &plan, int rank, int size);

    const Request &request;
    const Plan plan;
    const int rank;
    const int size;

    /// What it reads and writes on this rank.
    std::uint64_t send_bytes() const;
    std::uint64_t recv_bytes() const;
    /// A collective of one rank has none, a message to oneself has.
    bool has_peers() const;
    /// Which of its buffers the peers touch themselves. Others stay unregistered.
    bool peers_touch_send() const;
    bool peers_touch_recv() const;
    /// Whether the recv buffer is staged where peers cannot reach it. Where not, they do without.
    bool stages_recv() const;
    /// Whether a peer copies a part into this rank's recv buffer if that is named; if not, this rank copies all of it.
    bool peer_may_help() const;
    /// Of a broadcast by pull: the others' shares of the copies go by it.
    bool is_root_in_place() const;
    /// Of its synchronisation, which numbers an operation's steps with step_bits; rounded up.
    std::uint64_t most_steps(std::uint64_t segment_bytes) const;
    /// Whether in place its result has to be made elsewhere, or its input copied away before.
    bool makes_result_apart() const;
    bool copies_input() const;

private:
    const Way *const way_;  // null for a barrier, which selection has no choice of
};

}  // namespace baton::core
