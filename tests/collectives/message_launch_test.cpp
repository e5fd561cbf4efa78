#include "collectives/message_launch.hpp"

#include <gtest/gtest.h>

namespace baton::core {
namespace {

MessageCall call(Algorithm algorithm, bool is_send, int peer, std::uint64_t bytes, int channels) {
    MessageCall call;
    call.plan.algorithm = algorithm;
    call.plan.channels = channels;
    call.message.is_send = is_send;
    call.message.peer = peer;
    call.message.bytes = bytes;
    return call;
}

/// All blocks of a launch must be resident together: recvs that have one each leave fewer for the others.
TEST(MessageLaunch, HasNoMoreBlocksThanChannelsWhereMessagesAreFewer) {
    constexpr int channels = 8;
    std::vector<MessageCall> calls;
    for (int peer = 1; peer <= 4; ++peer) calls.push_back(call(Algorithm::push, false, peer, 1 << 20, channels));
    for (int peer = 1; peer <= 2; ++peer) calls.push_back(call(Algorithm::packet, true, peer, 1 << 20, channels));
    EXPECT_LE(plan_launch<BATON_GROUP_LIMIT>(calls, channels, nullptr).blocks, channels);
}

}  // namespace
}  // namespace baton::core
