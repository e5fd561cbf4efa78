#pragma once

#include <optional>
#include <vector>

#include "collectives/executor.hpp"
#include "collectives/kernels.hpp"

namespace baton::core {

/// Sends and recvs that a kernel runs together: which of its blocks work on which of them.
template <int capacity>
struct MessageLaunch {
    MessageBatch<capacity> batch;
    int blocks = 0;
    std::optional<Algorithm> only;  // the way that all go, if it is one
};

/// Pure. `channels`: blocks that may be resident, `calls` at least one, at most `capacity`, which is few_messages or
/// BATON_GROUP_LIMIT.
/// `direct`: the send of which the calls have the head, if there is one; it learns who counts with it.
template <int capacity>
MessageLaunch<capacity> plan_launch(const std::vector<MessageCall> &calls, int channels, DirectSend *direct = nullptr);

/// Divides a send by a copy engine: `send` becomes the head's, which has no bytes and no channels where there is no
/// head, and what is returned is the engine's. `destination`: the receiver's buffer.
DirectSend leave_head(MessageCall &send, std::byte *destination);

}  // namespace baton::core
