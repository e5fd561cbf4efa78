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
    std::optional<Algorithm> only;  // the way of all messages, if they have the same one
};

/// Pure. `channels`: blocks that may be resident. `calls`: at least one, at most `capacity`, which is few_messages or
/// BATON_GROUP_LIMIT. `direct`: the send whose head is among the calls, if there is one; it learns how many read its
/// pair's count.
template <int capacity>
MessageLaunch<capacity> plan_launch(const std::vector<MessageCall> &calls, int channels, DirectSend *direct = nullptr);

/// Divides a send by a copy engine. `send` becomes the head, without bytes or channels if there is none; the engine's
/// part is returned. `destination`: the receiver's buffer.
DirectSend leave_head(MessageCall &send, std::byte *destination);

}  // namespace baton::core
