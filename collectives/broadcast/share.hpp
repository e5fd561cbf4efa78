#pragma once

#include "transport/transport.hpp"

namespace baton::core {

/// The part of a buffer of `bytes` that the root sends to `rank`, which relays it to the others. The root has none.
/// Rank 0's (or rank 1's, if 0 is the root) is the largest.
BATON_HD inline Range broadcast_share(std::uint64_t bytes, int size, int root, int rank) {
    if (rank == root) return {};
    return split(bytes, copy_granule, size - 1, rank < root ? rank : rank - 1);
}

BATON_HD inline std::uint64_t largest_broadcast_share(std::uint64_t bytes, int size) {
    return size > 1 ? split(bytes, copy_granule, size - 1, 0).bytes : 0;
}

}  // namespace baton::core
