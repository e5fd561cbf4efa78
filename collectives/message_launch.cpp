#include "collectives/message_launch.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

#include "transport/copy_engine/head.hpp"
#include "transport/transport.hpp"
#include "util/limits.hpp"

namespace baton::core {
namespace {

/// The index of a message's count: send or recv, and the peer.
std::pair<std::size_t, std::size_t> count_of(const Message &message) {
    return {message.is_send ? 0 : 1, static_cast<std::size_t>(message.peer)};
}

/// How many parts the blocks of a message work through. Packets and lines are found wherever the parts begin. Both
/// sides must have the same parts of a push, which its receiver waits for, and of a staged message, whose parts have a
/// place each. Except in a push every part has bytes, and so something to wait for: an empty one would count itself as
/// done before the slot is this message's.
int parts_of(const MessageCall &call, int blocks) {
    const std::uint64_t bytes = call.message.bytes;
    switch (call.plan.algorithm) {
        case Algorithm::push:
            return call.plan.channels;
        case Algorithm::staged:
            return shares_of(bytes, copy_granule, call.plan.channels);
        case Algorithm::line:
            return shares_of(bytes, DataLine::payload, blocks);
        default:
            return shares_of(bytes, copy_granule, blocks);
    }
}

/// When the blocks of a call start, compared in this order.
struct Start {
    std::uint32_t number;  // of the message among its pair's, from 1
    std::uint32_t turn;    // among messages of this number
    std::uint32_t call;    // its index

    auto operator<=>(const Start &) const = default;
};

/// The order in which the blocks of `calls` start. Normally all are resident together. Where other kernels have taken
/// their room, blocks start as others end, so none may come before one that it waits for, here or at a peer:
/// - The k-th messages of all pairs come before the next ones, which may wait for slots that these free.
/// - Of the k-th, first recvs by push, since their senders wait for the memory's name; then sends; then other recvs,
///   which wait for sends.
/// So a launch proceeds with one block more than its rank has recvs of one number. (Of a staged message both send and
/// recv must be resident.)
std::array<Start, BATON_GROUP_LIMIT> in_starting_order(const std::vector<MessageCall> &calls) {
    std::array<std::array<std::uint32_t, max_ranks>, 2> numbers{};  // of sends and recvs, by peer
    std::array<Start, BATON_GROUP_LIMIT> order;
    std::uint32_t count = 0;
    for (const MessageCall &call : calls) {
        const auto [way, peer] = count_of(call.message);
        const bool pushed_to = !call.message.is_send && call.plan.algorithm == Algorithm::push;
        const std::uint32_t turn = pushed_to ? 0 : call.message.is_send ? 1 : 2;
        order[count] = {++numbers[way][peer], turn, count};
        ++count;
    }
    std::sort(order.begin(), order.begin() + count);
    return order;
}

/// A recv by push only waits.
int blocks_wanted(const MessageCall &call) {
    return call.message.is_send || call.plan.algorithm != Algorithm::push ? call.plan.channels : 1;
}

/// The most blocks that one of the calls may have. Blocks are to be resident together, since they wait for each other
/// across ranks. So if there are many messages they share the blocks (a block works through several parts of its
/// message), and their blocks are small.
int most_blocks(const std::vector<MessageCall> &calls, int channels) {
    const auto wide = static_cast<int>(
        std::count_if(calls.begin(), calls.end(), [](const MessageCall &call) { return blocks_wanted(call) > 1; }));
    const int narrow = static_cast<int>(calls.size()) - wide;
    return std::max(1, (channels - narrow) / std::max(1, wide));
}

/// Adds a message to the launch, numbered among those of its pair: its blocks come after those that are there.
template <int capacity>
void add_message(MessageLaunch<capacity> &launch, const MessageCall &call, std::uint64_t number, int most_of_one) {
    LaunchedMessage &launched = launch.batch.messages[launch.batch.count++];
    launched.message = call.message;
    launched.message.number = number;
    launched.first_block = launch.blocks;
    launched.algorithm = call.plan.algorithm;
    launched.blocks = std::min(blocks_wanted(call), most_of_one);
    launched.parts = parts_of(call, launched.blocks);
    launched.blocks = std::min(launched.blocks, launched.parts);
    launch.blocks += launched.blocks;
}

/// Tells all readers of a pair's count how many they are: the blocks of the pair's messages, and those of `direct`.
template <int capacity>
void count_readers(MessageBatch<capacity> &batch, DirectSend *direct) {
    std::array<std::array<CountUse, max_ranks>, 2> uses{};
    for (int index = 0; index < batch.count; ++index) {
        const auto [way, peer] = count_of(batch.messages[index].message);
        uses[way][peer].readers += static_cast<std::uint32_t>(batch.messages[index].blocks);
        ++uses[way][peer].messages;
    }
    if (direct != nullptr) {
        const auto [way, peer] = count_of(direct->message);
        uses[way][peer].readers += direct->readers;
        direct->readers = uses[way][peer].readers;
    }
    for (int index = 0; index < batch.count; ++index) {
        const auto [way, peer] = count_of(batch.messages[index].message);
        batch.messages[index].count = uses[way][peer];
    }
}

/// The algorithm of all calls, if they have the same one.
std::optional<Algorithm> only_algorithm(const std::vector<MessageCall> &calls) {
    const Algorithm first = calls.front().plan.algorithm;
    const bool all =
        std::all_of(calls.begin(), calls.end(), [&](const MessageCall &call) { return call.plan.algorithm == first; });
    return all ? std::optional(first) : std::nullopt;
}

}  // namespace

template <int capacity>
MessageLaunch<capacity> plan_launch(const std::vector<MessageCall> &calls, int channels, DirectSend *direct) {
    MessageLaunch<capacity> launch;
    const int most_of_one = most_blocks(calls, channels);
    const auto order = in_starting_order(calls);
    for (std::size_t k = 0; k < calls.size(); ++k)
        add_message(launch, calls[order[k].call], order[k].number, most_of_one);
    count_readers(launch.batch, direct);
    launch.only = only_algorithm(calls);
    return launch;
}

DirectSend leave_head(MessageCall &send, std::byte *destination) {
    DirectSend direct{send.message, destination, send.plan.channels};
    direct.head_parts = direct.parts / 2;
    direct.head_bytes = direct.head_parts == 0 ? 0 : head_of(direct.message.bytes);
    send.message.bytes = direct.head_bytes;
    send.plan.channels = direct.head_parts;
    return direct;
}

template MessageLaunch<few_messages> plan_launch(const std::vector<MessageCall> &, int, DirectSend *);
template MessageLaunch<BATON_GROUP_LIMIT> plan_launch(const std::vector<MessageCall> &, int, DirectSend *);

}  // namespace baton::core
