#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/arrival.hpp"

namespace baton::core {

/// A collective as an algorithm sees it.
struct CollectiveArgs {
    Arrival arrival;
    const std::byte *send = nullptr;
    std::byte *recv = nullptr;
    std::uint64_t bytes = 0;  // as Request::bytes: of a block, or of the whole buffer of allreduce and broadcast
    std::int32_t op = 0;      // baton_op
    std::int32_t root = 0;    // broadcast; only it has `send`
    // Algorithm::two_phase: every rank may work in its `recv` until it has credited step 1; peers store results there
    // only after that credit. The same on all ranks.
    bool recv_is_scratch = false;
    // Peers may be copy engines, whose signals do not wait for what their reductions read, so that slots are asked for.
    // The same on all ranks.
    bool signals_before_reads = false;
};

}  // namespace baton::core
