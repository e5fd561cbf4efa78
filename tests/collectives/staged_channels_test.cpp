// The staged algorithms on several channels.
#include <gtest/gtest.h>

#include <string>

#include "channel_engine.hpp"
#include "collectives/allgather/staged.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/alltoall/staged.hpp"
#include "collectives/broadcast/staged.hpp"
#include "collectives/reduce_scatter/staged.hpp"

namespace baton::core {
namespace {

struct Shape {
    int ranks;
    int channels;
    std::uint64_t segment;
    std::uint64_t early;  // bytes of each channel
    std::size_t count;
};

std::string text(const Shape &shape) {
    return std::to_string(shape.ranks) + "_ranks_" + std::to_string(shape.channels) + "_channels_" +
           std::to_string(shape.early) + "_early_" + std::to_string(shape.count) + "_elements";
}
void PrintTo(const Shape &shape, std::ostream *out) { *out << text(shape); }

class StagedChannels : public ::testing::TestWithParam<Shape> {
protected:
    /// Runs `body(engine, args)` on every channel of every rank; `chunk` elements. send and recv may be the same.
    template <class Body>
    void run(std::vector<Vector> &send, std::vector<Vector> &recv, std::size_t chunk, int root, const Body &body) {
        Node node(shape().ranks, shape().channels, shape().segment, shape().early);
        run_channels(node, send, recv,
                     [&](ChannelEngine &engine, int rank) { body(engine, args_of(node, rank, chunk, root)); });
    }
    const Shape &shape() const { return GetParam(); }
    std::size_t ranks() const { return static_cast<std::size_t>(shape().ranks); }
};

TEST_P(StagedChannels, Allgather) {
    const std::size_t count = shape().count;
    std::vector<Vector> send = inputs(shape().ranks, count), recv = outputs(shape().ranks, count * ranks());
    run(send, recv, count, 0, [](auto &engine, const CollectiveArgs &args) { allgather_staged(engine, args); });
    Vector expected;
    for (const Vector &part : send) expected.insert(expected.end(), part.begin(), part.end());
    for (const Vector &found : recv) EXPECT_EQ(found, expected);
}

TEST_P(StagedChannels, Alltoall) {
    const std::size_t count = shape().count;
    for (const bool in_place : {false, true}) {
        std::vector<Vector> send = inputs(shape().ranks, count * ranks()),
                            recv = outputs(shape().ranks, count * ranks());
        std::vector<Vector> &target = in_place ? send : recv;
        run(send, target, count, 0, [](auto &engine, const CollectiveArgs &args) { alltoall_staged(engine, args); });
        for (std::size_t to = 0; to < ranks(); ++to) {
            Vector expected;
            for (int from = 0; from < shape().ranks; ++from) {
                for (std::size_t i = 0; i < count; ++i) expected.push_back(element(from, to * count + i));
            }
            EXPECT_EQ(target[to], expected) << "in place " << in_place;
        }
    }
}

TEST_P(StagedChannels, Broadcast) {
    const int root = shape().ranks - 1;
    std::vector<Vector> send = inputs(shape().ranks, shape().count), recv = outputs(shape().ranks, shape().count);
    run(send, recv, shape().count, root,
        [](auto &engine, const CollectiveArgs &args) { broadcast_staged(engine, args); });
    for (const Vector &found : recv) EXPECT_EQ(found, send[static_cast<std::size_t>(root)]);
}

TEST_P(StagedChannels, ReduceScatter) {
    const std::size_t count = shape().count;
    for (const bool credited : {false, true}) {
        std::vector<Vector> send = inputs(shape().ranks, count * ranks()), recv = outputs(shape().ranks, count);
        run(send, recv, count, 0, [&](auto &engine, CollectiveArgs args) {
            args.beside_copy_engines = credited;
            reduce_scatter_staged<std::uint32_t>(engine, args);
        });
        for (std::size_t rank = 0; rank < ranks(); ++rank) {
            for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(recv[rank][i], sum(shape().ranks, rank * count + i));
        }
    }
}

TEST_P(StagedChannels, Allreduce) {
    const std::size_t count = shape().count;
    for (const bool in_place : {false, true}) {
        std::vector<Vector> send = inputs(shape().ranks, count), recv = outputs(shape().ranks, count);
        std::vector<Vector> &target = in_place ? send : recv;
        run(send, target, count, 0,
            [](auto &engine, const CollectiveArgs &args) { allreduce_staged<std::uint32_t>(engine, args); });
        for (const Vector &found : target) {
            for (std::size_t i = 0; i < count; ++i)
                ASSERT_EQ(found[i], sum(shape().ranks, i)) << "in place " << in_place;
        }
    }
}

std::vector<Shape> shapes() {
    std::vector<Shape> all;
    for (const int ranks : {1, 2, 3, 4}) {
        for (const std::size_t count : {0, 1, 33, 1000, 5003}) {
            all.push_back({ranks, 3, 1024, 0, count});
            all.push_back({ranks, 3, 1024, 512, count});
            all.push_back({ranks, 5, 256, 0, count});    // more channels than a segment has parts for
            all.push_back({ranks, 5, 256, 128, count});  // more early bytes than a segment
        }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, StagedChannels, ::testing::ValuesIn(shapes()),
                         [](const auto &one) { return text(one.param); });

}  // namespace
}  // namespace baton::core
