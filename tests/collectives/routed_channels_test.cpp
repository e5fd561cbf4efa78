// The algorithms along rings and islands, on several channels.
#include <gtest/gtest.h>

#include "channel_engine.hpp"
#include "collectives/allgather/ring.hpp"
#include "collectives/allgather/two_level.hpp"
#include "collectives/allreduce/chain.hpp"
#include "collectives/broadcast/pipeline.hpp"
#include "collectives/broadcast/pipeline_line.hpp"
#include "collectives/links.hpp"
#include "collectives/reduce_scatter/chain.hpp"
#include "collectives/reduce_scatter/two_level.hpp"

namespace baton::core {
namespace {

constexpr int ranks = 5;

struct Shape {
    bool ring;
    std::vector<int> order_or_island;
    int channels;
    std::uint64_t segment;
    std::size_t count;

    bool alike() const { return order_or_island.empty(); }
    Links links() const {
        Links links;
        links.all_alike = alike();
        if (!alike()) links.shape = ring ? Links::Shape::ring : Links::Shape::islands;
        (ring ? links.ring : links.island_of_rank) = order_or_island;
        return links;
    }
};

std::string text(const Shape &shape) {
    std::string name = shape.alike() ? "alike" : shape.ring ? "ring" : "islands";
    for (const int number : shape.order_or_island) name.append("_").append(std::to_string(number));
    return name + "_" + std::to_string(shape.channels) + "_channels_" + std::to_string(shape.count) + "_elements";
}
void PrintTo(const Shape &shape, std::ostream *out) { *out << text(shape); }

class RoutedChannels : public ::testing::TestWithParam<Shape> {
protected:
    const Shape &shape() const { return GetParam(); }

    template <class Body>
    void run(std::vector<Vector> &send, std::vector<Vector> &recv, const Body &body) {
        Node node(ranks, shape().channels, shape().segment);
        run_channels(node, send, recv, [&](ChannelEngine &engine, int rank) {
            const RoutedArgs args{args_of(node, rank, shape().count, 0), make_route(shape().links(), rank, ranks)};
            body(engine, args);
        });
    }
};

class AlikeOrNot : public RoutedChannels {};
class InAnyOrder : public RoutedChannels {};
class InRankOrder : public RoutedChannels {};

TEST_P(InAnyOrder, Allgather) {
    std::vector<Vector> send = inputs(ranks, shape().count), recv = outputs(ranks, shape().count * ranks);
    run(send, recv, [&](ChannelEngine &engine, const RoutedArgs &args) {
        shape().ring ? AllgatherRing<ChannelEngine>(engine, args).run()
                     : AllgatherTwoLevel<ChannelEngine>(engine, args).run();
    });
    Vector expected;
    for (const Vector &part : send) expected.insert(expected.end(), part.begin(), part.end());
    for (const Vector &found : recv) EXPECT_EQ(found, expected);
}

TEST_P(AlikeOrNot, Broadcast) {
    enum {
        in_segments,
        beginning_in_lines,
        in_lines
    };
    for (const int how : {in_segments, beginning_in_lines, in_lines}) {
        std::vector<Vector> send = inputs(ranks, shape().count), recv = outputs(ranks, shape().count);
        run(send, recv, [how](ChannelEngine &engine, RoutedArgs args) {
            args.begins_in_lines = how == beginning_in_lines;
            how == in_lines ? broadcast_pipeline_line(engine, args) : broadcast_pipeline(engine, args);
        });
        for (const Vector &found : recv) EXPECT_EQ(found, send[0]) << "way " << how;
    }
}

TEST_P(InRankOrder, ReduceScatter) {
    for (const bool in_place : {false, true}) {
        std::vector<Vector> send = inputs(ranks, shape().count * ranks), recv = outputs(ranks, shape().count);
        std::vector<Vector> &target = in_place ? send : recv;
        run(send, target, [&](ChannelEngine &engine, const RoutedArgs &args) {
            shape().ring ? ReduceScatterChain<std::uint32_t, ChannelEngine>(engine, args).run()
                         : reduce_scatter_two_level<std::uint32_t>(engine, args);
        });
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            for (std::size_t i = 0; i < shape().count; ++i)
                ASSERT_EQ(target[rank][i], sum(ranks, rank * shape().count + i)) << "in place " << in_place;
        }
    }
}

TEST_P(InRankOrder, Allreduce) {
    for (const bool in_place : {false, true}) {
        std::vector<Vector> send = inputs(ranks, shape().count), recv = outputs(ranks, shape().count);
        std::vector<Vector> &target = in_place ? send : recv;
        run(send, target, [](ChannelEngine &engine, const RoutedArgs &args) {
            AllreduceChain<std::uint32_t, ChannelEngine>(engine, args).run();
        });
        for (const Vector &found : target) {
            for (std::size_t i = 0; i < shape().count; ++i)
                ASSERT_EQ(found[i], sum(ranks, i)) << "in place " << in_place;
        }
    }
}

std::vector<Shape> shapes(bool any_order, bool alike = false) {
    std::vector<Shape> all;
    for (const std::size_t count : {0, 1, 33, 1000, 5002, 5003}) {
        // The second pair has more channels than a segment has parts for.
        for (const auto &pair : {std::pair{3, std::uint64_t{1024}}, std::pair{5, std::uint64_t{256}}}) {
            const int channels = pair.first;
            const std::uint64_t segment = pair.second;
            const auto add = [&](bool ring, const std::vector<int> &links) {
                all.push_back({ring, links, channels, segment, count});
            };
            add(true, {0, 1, 2, 3, 4});
            add(false, {0, 0, 0, 1, 1});
            add(false, {0, 1, 1, 2, 2});
            if (any_order) add(true, {0, 3, 1, 4, 2});
            if (any_order) add(false, {0, 1, 0, 1, 1});
            if (alike) add(false, {});
        }
    }
    return all;
}

const auto name_of = [](const auto &one) { return text(one.param); };

INSTANTIATE_TEST_SUITE_P(Routes, AlikeOrNot, ::testing::ValuesIn(shapes(true, true)), name_of);
INSTANTIATE_TEST_SUITE_P(Routes, InAnyOrder, ::testing::ValuesIn(shapes(true)), name_of);
INSTANTIATE_TEST_SUITE_P(Routes, InRankOrder, ::testing::ValuesIn(shapes(false)), name_of);

}  // namespace
}  // namespace baton::core
