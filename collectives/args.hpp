#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/arrival.hpp"

namespace baton::core {

/// A collective as an algorithm sees it. `chunk` is what one rank contributes to allgather, what one rank gets of
/// reduce_scatter, and the whole vector of allreduce.
struct CollectiveArgs {
    Arrival arrival;
    const std::byte *send = nullptr;
    std::byte *recv = nullptr;
    std::uint64_t chunk = 0;  // bytes
    std::int32_t op = 0;      // baton_op
};

}  // namespace baton::core
