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
    std::int32_t root = 0;    // broadcast; only the root has `send`
    // Copy engines may be among the ranks. Their signals do not wait for what their reductions read, so slots are
    // written again only after a credit. The same on all ranks.
    bool beside_copy_engines = false;
    // For a kernel that is one of several of an operation (push_inputs.hpp). A kernel before it has begun the
    // operation; copy engines and a kernel behind it do what is left once all have given their credits.
    bool begun_before = false;
    bool ended_behind = false;
};

}  // namespace baton::core
