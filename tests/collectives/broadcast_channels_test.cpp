// Broadcast by scattering and relaying on several channels, which start with different peers; and other algorithms in
// lines whose shares differ by channel.
#include <gtest/gtest.h>

#include <string>

#include "channel_engine.hpp"
#include "collectives/allreduce/two_shot_line.hpp"
#include "collectives/broadcast/line.hpp"
#include "collectives/broadcast/push.hpp"

namespace baton::core {
namespace {

struct Shape {
    int ranks;
    int channels;
    std::size_t count;
    bool relayed;
};

std::string text(const Shape &shape) {
    return std::to_string(shape.ranks) + "_ranks_" + std::to_string(shape.count) + "_elements";
}
void PrintTo(const Shape &shape, std::ostream *out) { *out << text(shape); }

class BroadcastChannels : public ::testing::TestWithParam<Shape> {};

TEST_P(BroadcastChannels, GivesEveryRankTheRootsBuffer) {
    const Shape &shape = GetParam();
    const std::size_t count = shape.count;
    ASSERT_EQ(worth_relaying(count * sizeof(std::uint32_t), shape.ranks), shape.relayed);
    const auto n = static_cast<std::size_t>(shape.ranks);
    for (const int root : {0, shape.ranks - 1}) {
        std::vector<Vector> send(n), recv(n, Vector(count, 0xdeadu));
        send[static_cast<std::size_t>(root)] = input(root, count);
        Node node(shape.ranks, shape.channels, 128);
        run_channels(node, send, recv, [&](ChannelEngine &engine, int rank) {
            BroadcastPush(engine, args_of(node, rank, count, root)).run();
        });
        for (const Vector &found : recv) EXPECT_TRUE(found == send[static_cast<std::size_t>(root)]) << "root " << root;
    }
}

// One step and several; the last shares and parts are short.
INSTANTIATE_TEST_SUITE_P(Shapes, BroadcastChannels,
                         ::testing::Values(Shape{1, 3, 1000, false}, Shape{2, 3, 1u << 20, false},
                                           Shape{3, 2, 90001, false}, Shape{4, 3, 300007, true},
                                           Shape{4, 3, 1000003, true}, Shape{5, 2, 800001, true}),
                         [](const auto &one) { return text(one.param); });

class BroadcastByLines : public ::testing::TestWithParam<int> {};

/// Whatever the buffer's length, none of a channel's shares is larger than its first one.
TEST_P(BroadcastByLines, GivesEveryRankTheRootsBuffer) {
    const int ranks = GetParam();
    const auto n = static_cast<std::size_t>(ranks);
    for (const std::size_t count : {0, 1, 3, 4, 5, 31, 100, 257, 1000, 4099}) {
        for (int root = 0; root < ranks; ++root) {
            std::vector<Vector> send(n), recv(n, Vector(count, 0xdeadu));
            send[static_cast<std::size_t>(root)] = input(root, count);
            Node node(ranks, 3, 128);
            run_channels(node, send, recv, [&, count, root](ChannelEngine &engine, int rank) {
                broadcast_line(engine, args_of(node, rank, count, root));
            });
            for (const Vector &found : recv) {
                ASSERT_TRUE(found == send[static_cast<std::size_t>(root)]) << count << " elements, root " << root;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, BroadcastByLines, ::testing::Values(1, 2, 3, 4, 5));

class AllreduceByLines : public ::testing::TestWithParam<int> {};

TEST_P(AllreduceByLines, GivesEveryRankTheSums) {
    const int ranks = GetParam();
    const auto n = static_cast<std::size_t>(ranks);
    for (const std::size_t count : {0, 1, 3, 4, 5, 31, 100, 257, 1000, 4099}) {
        for (const bool in_place : {false, true}) {
            std::vector<Vector> send, recv(n, Vector(count, 0xdeadu));
            for (int rank = 0; rank < ranks; ++rank) send.push_back(input(rank, count));
            std::vector<Vector> &target = in_place ? send : recv;
            Node node(ranks, 3, 128);
            run_channels(node, send, target, [&, count](ChannelEngine &engine, int rank) {
                allreduce_two_shot_line<std::uint32_t>(engine, args_of(node, rank, count, 0));
            });
            for (const Vector &found : target) {
                for (std::size_t i = 0; i < count; ++i)
                    ASSERT_EQ(found[i], sum(ranks, i)) << count << " elements, in place " << in_place;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ranks, AllreduceByLines, ::testing::Values(1, 2, 3, 4, 5));

}  // namespace
}  // namespace baton::core
