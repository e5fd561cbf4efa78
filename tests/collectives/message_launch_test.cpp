#include "collectives/message_launch.hpp"

#include <gtest/gtest.h>

#include "transport/transport.hpp"

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

/// All blocks of a launch must be resident at once: recvs, which have a block each, leave fewer for the others.
TEST(MessageLaunch, HasNoMoreBlocksThanChannelsWhereMessagesAreFewer) {
    constexpr int channels = 8;
    std::vector<MessageCall> calls;
    for (int peer = 1; peer <= 4; ++peer) calls.push_back(call(Algorithm::push, false, peer, 1 << 20, channels));
    for (int peer = 1; peer <= 2; ++peer) calls.push_back(call(Algorithm::packet, true, peer, 1 << 20, channels));
    EXPECT_LE(plan_launch<BATON_GROUP_LIMIT>(calls, channels, nullptr).blocks, channels);
}

/// A part without bytes would have nothing to wait for.
TEST(MessageLaunch, DividesMessagesIntoPartsThatHaveBytes) {
    constexpr int channels = 64;
    const struct {
        Algorithm algorithm;
        std::uint64_t granule;  // of a part: a line's payload, or the granule of copies
    } rows[] = {{Algorithm::line, 120}, {Algorithm::packet, 128}, {Algorithm::staged, 128}};
    for (const auto &row : rows) {
        SCOPED_TRACE(algorithm_name(row.algorithm));
        const auto parts_of = [&](std::uint64_t bytes) {
            const std::vector<MessageCall> calls{call(row.algorithm, true, 1, bytes, channels)};
            return plan_launch<few_messages>(calls, channels, nullptr).batch.messages[0].parts;
        };
        EXPECT_EQ(parts_of(0), 1);
        for (int granules = 1; granules <= channels; ++granules) {
            const auto bytes = static_cast<std::uint64_t>(granules) * row.granule;
            EXPECT_EQ(parts_of(bytes), granules);
            EXPECT_EQ(parts_of(bytes - row.granule + 1), granules);
        }
        for (std::uint64_t bytes = channels * row.granule + 1; bytes < 4 * channels * row.granule; bytes += 11) {
            const std::uint64_t whole = split(bytes, row.granule, channels, 0).bytes;
            EXPECT_LT(static_cast<std::uint64_t>(parts_of(bytes) - 1) * whole, bytes);
            EXPECT_GE(static_cast<std::uint64_t>(parts_of(bytes)) * whole, bytes);
        }
    }
    EXPECT_EQ(plan_launch<few_messages>({call(Algorithm::push, true, 1, 1, channels)}, channels, nullptr)
                  .batch.messages[0]
                  .parts,
              channels)
        << "the parts that its receiver counts";
}

}  // namespace
}  // namespace baton::core
