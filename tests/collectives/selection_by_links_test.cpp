// Selection where links are not alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "selection_machines.hpp"

namespace baton::core {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr baton_operation with_routes[] = {BATON_ALLGATHER, BATON_REDUCE_SCATTER, BATON_ALLREDUCE};

Algorithm along_a_ring(baton_operation operation) {
    return operation == BATON_ALLGATHER ? Algorithm::ring : Algorithm::chain;
}

TEST(SelectionByLinks, TakesTheRouteAbovePackets) {
    const Capabilities ring = linked(gpu(8), ring_of({0, 1, 2, 3, 4, 5, 6, 7}));
    const Capabilities islands = linked(gpu(8), islands_of({0, 0, 0, 0, 1, 1, 1, 1}));
    for (const baton_operation operation : with_routes) {
        EXPECT_EQ(plan_for(operation, 65536, ring).algorithm, Algorithm::packet);
        EXPECT_EQ(plan_for(operation, 65537, ring).algorithm, along_a_ring(operation));
        EXPECT_EQ(plan_for(operation, 1 << 30, ring).algorithm, along_a_ring(operation));
        EXPECT_EQ(plan_for(operation, 1 << 30, ring).mover, Mover::kernel);
    }
    EXPECT_EQ(text_for(BATON_ALLGATHER, 1 << 20, ring), "ring by kernel, 32 channels: a ring of NVLinks; mapped");
    EXPECT_EQ(text_for(BATON_ALLREDUCE, 1 << 20, ring), "chain by kernel, 16 channels: a ring of NVLinks; mapped");
    EXPECT_EQ(text_for(BATON_ALLGATHER, 8192 * 9, islands),
              "two_level by kernel, 9 channels: 2 NVLink islands; mapped");
    EXPECT_EQ(plan_for(BATON_ALLTOALL, 1 << 20, ring).algorithm, Algorithm::push);
    for (const Capabilities &routed : {ring, islands}) {
        EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 20, routed).algorithm, Algorithm::pipeline);
        EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 20, routed).reason, Reason::links);
    }
    EXPECT_EQ(plan_for(BATON_SEND, 1 << 20, ring).algorithm, Algorithm::push);
}

/// A pipeline in lines follows the route itself, where lines arrive whole.
TEST(SelectionByLinks, PipelinesInLinesFollowTheRoute) {
    Capabilities ring = linked(gpu(4), ring_of({0, 2, 1, 3}));
    ring.tuning[0].operations[BATON_BROADCAST] = {{.algorithm = Algorithm::pipeline_line, .mover = Mover::kernel}};
    ring.line_bytes = (1 << 20) / 4;  // for a peer: the least that a ring needs
    EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 30, ring).algorithm, Algorithm::pipeline_line);
    EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 30, ring).channels, ring.channels);
    ring.line_bytes -= 16;
    EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 30, ring).algorithm, Algorithm::pipeline);
    EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 30, ring).reason, Reason::links);
}

TEST(SelectionByLinks, AnyLinesThatHoldARunOfEachBlockAreRings) {
    Capabilities alike = gpu(4);
    alike.line_bytes = shortest_line_ring(4);
    EXPECT_TRUE(has_line_rings(alike));
    alike.line_bytes -= 16;
    EXPECT_FALSE(has_line_rings(alike));
}

/// The channels that a row gives to packets say nothing about a route that takes their place.
TEST(SelectionByLinks, ARouteHasTheChannelsOfARowThatMovesTheDataStraight) {
    Capabilities ring = linked(gpu(8), ring_of({0, 1, 2, 3, 4, 5, 6, 7}));
    ring.packet_bytes = 0;
    const auto channels_beside = [&](baton_operation operation, Algorithm algorithm) {
        ring.tuning[0].operations[operation] = {{.algorithm = algorithm, .mover = Mover::kernel, .channels = 3}};
        const Plan plan = plan_for(operation, 1 << 20, ring);
        EXPECT_EQ(plan.algorithm, along_a_ring(operation));
        return plan.channels;
    };
    const Algorithm straight[] = {Algorithm::push, Algorithm::pull, Algorithm::two_shot};
    for (int index = 0; index < 3; ++index) {
        EXPECT_EQ(channels_beside(with_routes[index], Algorithm::packet), ring.channels);
        EXPECT_EQ(channels_beside(with_routes[index], straight[index]), 3);
    }
}

TEST(SelectionByLinks, OnTheHostToo) {
    Capabilities reached = linked(host(), ring_of({0, 1, 2, 3}));
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 8193, reached).algorithm, Algorithm::staged) << "peers' buffers are written";
    reached.reaches_buffers = true;
    for (const baton_operation operation : with_routes) {
        EXPECT_EQ(plan_for(operation, 8193, reached).algorithm, along_a_ring(operation));
        EXPECT_EQ(plan_for(operation, 8193, reached).mover, Mover::host);
    }
}

TEST(SelectionByLinks, ReductionsNeedTheOrderOfRanks) {
    for (const Links &links : {ring_of({0, 2, 1, 3, 4, 5, 6, 7}), islands_of({0, 1, 0, 1, 0, 1, 0, 1})}) {
        const Capabilities mixed = linked(gpu(8), links);
        EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, 1 << 20, mixed).algorithm, Algorithm::pull);
        EXPECT_EQ(plan_for(BATON_ALLREDUCE, 1 << 20, mixed).algorithm, Algorithm::two_shot);
        EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 20, mixed).reason, Reason::links);
        EXPECT_THAT(text_for(BATON_ALLREDUCE, 1 << 20, mixed),
                    HasSubstr("; the links are not followed: a reduction goes "));
        EXPECT_THAT(text_for(BATON_ALLGATHER, 1 << 20, mixed), Not(HasSubstr("not followed")));
    }
    EXPECT_THAT(text_for(BATON_REDUCE_SCATTER, 1 << 20, linked(gpu(4), islands_of({0, 0, 1, 1}))),
                EndsWith("; the links are not followed: by two levels no less would go between islands"));
}

/// Accumulators are wider than small elements, so two levels may send more between islands than elements would take.
TEST(SelectionByLinks, TwoLevelReductionsOnlyWhereTheySendLess) {
    const auto algorithm = [](baton_operation operation, baton_type type, const std::vector<int> &island) {
        Request asked = request(operation, 1 << 20);
        asked.type = type;
        return select(asked, linked(gpu(static_cast<int>(island.size())), islands_of(island))).algorithm;
    };
    const std::vector<int> fours{0, 0, 0, 0, 1, 1, 1, 1}, pairs{0, 0, 1, 1}, one_apart{0, 0, 0, 1};
    EXPECT_EQ(algorithm(BATON_REDUCE_SCATTER, BATON_FLOAT32, fours), Algorithm::two_level);  // 2 blocks, not 4
    EXPECT_EQ(algorithm(BATON_REDUCE_SCATTER, BATON_BFLOAT16, fours), Algorithm::pull);      // 4
    EXPECT_EQ(algorithm(BATON_REDUCE_SCATTER, BATON_INT8, fours), Algorithm::two_level);     // its own accumulator
    EXPECT_EQ(algorithm(BATON_REDUCE_SCATTER, BATON_FLOAT32, pairs), Algorithm::pull);       // 2 blocks, not 2
    EXPECT_EQ(algorithm(BATON_REDUCE_SCATTER, BATON_FLOAT32, one_apart), Algorithm::pull);   // 4 by one rank
    EXPECT_EQ(algorithm(BATON_ALLREDUCE, BATON_BFLOAT16, fours), Algorithm::two_level);      // 4 eighths, not 8
    EXPECT_EQ(algorithm(BATON_ALLREDUCE, BATON_FLOAT8_E4M3, fours), Algorithm::two_shot);    // 8
    EXPECT_EQ(algorithm(BATON_ALLREDUCE, BATON_FLOAT32, pairs), Algorithm::two_level);       // 2 quarters, not 4
    EXPECT_EQ(algorithm(BATON_ALLGATHER, BATON_FLOAT8_E4M3, one_apart), Algorithm::two_level);
}

TEST(SelectionByLinks, WhatTheUserSetsIsStronger) {
    Capabilities asked = linked(gpu(8), ring_of({0, 1, 2, 3, 4, 5, 6, 7}));
    asked.transport = BATON_TRANSPORT_COPY_ENGINE;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 20, asked).mover, Mover::copy_engine);
    asked.transport = BATON_TRANSPORT_AUTO;
    asked.copy_engine_limit = 1 << 20;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 20, asked).mover, Mover::copy_engine);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, (1 << 20) - 1, asked).algorithm, Algorithm::ring);
    asked.packet_limit_set = true;
    asked.packet_bytes = 1 << 19;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 19, asked).algorithm, Algorithm::packet);
    for (TuningTable &table : asked.tuning) table.built_in = false;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, (1 << 19) + 1, asked).algorithm, Algorithm::push)
        << "a table that was made for this machine";
}

/// Not even where a table names it, or where there is no table.
TEST(SelectionByLinks, NoRouteThatTheMachineDoesNotHave) {
    const auto named = [](Capabilities capabilities, baton_operation operation, Algorithm algorithm) {
        capabilities.tuning[0].operations[operation] = {{.algorithm = algorithm, .mover = Mover::kernel}};
        return capabilities;
    };
    const Links ring = ring_of({0, 1, 2, 3, 4, 5, 6, 7}), islands = islands_of({0, 0, 0, 0, 1, 1, 1, 1});
    for (const baton_operation operation : with_routes) {
        for (const Algorithm algorithm : {along_a_ring(operation), Algorithm::two_level}) {
            EXPECT_EQ(plan_for(operation, 1 << 20, named(gpu(8), operation, algorithm)).reason, Reason::instead_of_row);
            Capabilities other = named(gpu(8), operation, algorithm);
            other.links = algorithm == Algorithm::two_level ? ring : islands;
            EXPECT_NE(plan_for(operation, 1 << 20, other).algorithm, algorithm);
            other.links = algorithm == Algorithm::two_level ? islands : ring;
            EXPECT_EQ(plan_for(operation, 1 << 20, other).reason, Reason::tuned);
            EXPECT_EQ(plan_for(operation, 1 << 20, other).algorithm, algorithm);
        }
        Capabilities bare = gpu(8);
        bare.tuning.clear();
        EXPECT_FALSE(is_routed(plan_for(operation, 1 << 20, bare).algorithm));
    }
}

}  // namespace
}  // namespace baton::core
