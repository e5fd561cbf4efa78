#pragma once

#include <cstddef>
#include <cstdint>

#include "baton/baton.h"
#include "memory/pointer_info.hpp"

namespace baton::core {

constexpr bool is_message(baton_operation operation) { return operation == BATON_SEND || operation == BATON_RECV; }
constexpr bool reduces(baton_operation operation) {
    return operation == BATON_REDUCE_SCATTER || operation == BATON_ALLREDUCE;
}
/// Whether it moves data among all ranks; a barrier moves none.
constexpr bool is_collective(baton_operation operation) {
    return reduces(operation) || operation == BATON_ALLGATHER || operation == BATON_ALLTOALL ||
           operation == BATON_BROADCAST;
}

/// Whether blocks of so many bytes all begin where the first one does, modulo 16.
constexpr bool is_whole_words(std::uint64_t bytes) { return bytes % 16 == 0; }

/// A checked call of a collective, a message or a one-sided transfer: what selection and the executors work on. Buffers
/// are this rank's; in_place has been resolved to pointers.
struct Request {
    baton_operation operation = BATON_BARRIER;
    baton_type type = BATON_UINT8;
    baton_op op = BATON_SUM;
    // Elements: of a block for allgather, reduce_scatter and alltoall, of the buffer for others.
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;  // count * size of type
    const std::byte *send = nullptr;
    std::byte *recv = nullptr;
    PointerInfo send_info;  // what the checks have found; invalid where they had nothing to look at
    PointerInfo recv_info;
    int peer = -1;
    int root = 0;  // broadcast
};

}  // namespace baton::core
