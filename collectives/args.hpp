#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/arrival.hpp"

namespace baton::core {

/// A collective as an algorithm sees it. `chunk` is what one rank contributes to allgather, what one rank gets of
/// reduce_scatter, what one rank sends to another in alltoall, and the whole buffer of allreduce and broadcast.
struct CollectiveArgs {
    Arrival arrival;
    const std::byte *send = nullptr;
    std::byte *recv = nullptr;
    std::uint64_t chunk = 0;  // bytes
    std::int32_t op = 0;      // baton_op
    std::int32_t root = 0;    // broadcast; only it has `send`
    // allreduce in two phases: a rank's `recv` holds what it works on until it has credited step 1
    bool recv_is_scratch = false;
};

}  // namespace baton::core
