#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/tuning_key.hpp"
#include "selection_machines.hpp"
#include "sync/arena.hpp"
#include "transport/transport.hpp"

namespace baton::core {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(Selection, FollowsTheRowForTheSize) {
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 65536, gpu(8)).algorithm, Algorithm::packet);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 65537, gpu(8)).algorithm, Algorithm::push);
    EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, 65537, gpu(8)).algorithm, Algorithm::pull);
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 65537, gpu(8)).algorithm, Algorithm::two_shot);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, (8 << 20) - 1, gpu(8)).mover, Mover::kernel);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 8 << 20, gpu(8)).mover, Mover::copy_engine);
    EXPECT_EQ(plan_for(BATON_PUT, 8 << 20, gpu(8)).mover, Mover::copy_engine);
}

TEST(Selection, TakesTheRowsChannels) {
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 8192 * 9, gpu(8)).channels, 9);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 8192 * 9 + 1, gpu(8)).channels, 10);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 20, gpu(8)).channels, 32);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 30, gpu(8)).channels, 24);
    EXPECT_EQ(plan_for(BATON_PUT, 1 << 30, gpu(8)).channels, 32);
    Capabilities few = gpu(8);
    few.channels = 3;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 30, few).channels, 3);
    // A block is left for a recv.
    EXPECT_EQ(plan_for(BATON_SEND, 1 << 30, gpu(8)).channels, 31);
    EXPECT_EQ(plan_for(BATON_SEND, 4096, gpu(8)).channels, 1);
    EXPECT_EQ(plan_for(BATON_SEND, 32768, gpu(8)).channels, 8);
    Capabilities short_slots = gpu(8);
    short_slots.message_bytes = 16384;
    EXPECT_EQ(plan_for(BATON_SEND, 32768, short_slots).algorithm, Algorithm::push);
}

TEST(Selection, NamesTheTable) {
    const Capabilities capabilities = gpu(8);
    EXPECT_EQ(text_for(BATON_ALLGATHER, 1024, capabilities),
              "packet by kernel, 4 channels: tuning table for NVIDIA H200, NVSwitch, 8 ranks, up to 64 KiB (test)");
    EXPECT_EQ(
        text_for(BATON_REDUCE_SCATTER, 65537, capabilities),
        "pull by kernel, 9 channels: tuning table for NVIDIA H200, NVSwitch, 8 ranks, above 64 KiB (test); mapped");
    EXPECT_EQ(
        text_for(BATON_PUT, 8 << 20, capabilities),
        "direct by copy_engine, 32 channels: tuning table for NVIDIA H200, NVSwitch, 8 ranks, from 8 MiB on (test)");
    EXPECT_EQ(text_for(BATON_SEND, 1 << 20, host()), "staged by host, 1 channel: refused");
}

TEST(Selection, PacketsFitTheirChannels) {
    const Capabilities capabilities = gpu(8);
    for (std::uint64_t bytes = 0; bytes <= capabilities.packet_bytes; bytes += 13) {
        const Plan plan = plan_for(BATON_ALLREDUCE, bytes, capabilities);
        ASSERT_EQ(plan.algorithm, Algorithm::packet);
        const auto channels = static_cast<std::uint64_t>(plan.channels);
        const std::uint64_t share = ((bytes + channels - 1) / channels + 15) / 16 * 16;
        ASSERT_LE(share, capabilities.packet_channel_bytes) << bytes;
    }
}

TEST(Selection, MoreChannelsThanTheRowSaysWherePacketsWouldNotFit) {
    Capabilities capabilities = gpu(8);
    capabilities.tuning[0].operations[BATON_ALLREDUCE][0].channels = 2;
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 4096, capabilities).channels, 2);
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 2 * 2064 + 1, capabilities).channels, 3);
}

/// A row of lines applies where lines arrive whole, up to what their buffers hold for one peer.
TEST(Selection, LinesWhereTheyAreWholeAndFit) {
    Capabilities capabilities = gpu(4);
    for (const baton_operation operation : {BATON_ALLGATHER, BATON_BROADCAST}) {
        capabilities.tuning[0].operations[operation] = {
            {.up_to_bytes = 1 << 20, .algorithm = Algorithm::line, .mover = Mover::kernel, .channels = 2},
            {.algorithm = Algorithm::push, .mover = Mover::kernel}};
    }
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 18, capabilities).algorithm, Algorithm::push);
    capabilities.line_bytes = 1 << 18;
    capabilities.line_channel_bytes = 1 << 14;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 18, capabilities).algorithm, Algorithm::line);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 18, capabilities).channels, 16)
        << "more than the row says, so that it fits";
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 15, capabilities).channels, 2);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, (1 << 18) + 1, capabilities).algorithm, Algorithm::push);
    EXPECT_EQ(plan_for(BATON_BROADCAST, 3 << 18, capabilities).algorithm, Algorithm::line) << "a share to each peer";
    EXPECT_EQ(plan_for(BATON_BROADCAST, (3 << 18) + 1, capabilities).algorithm, Algorithm::push);
    capabilities.reaches_buffers = false;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 18, capabilities).algorithm, Algorithm::staged);
}

/// Messages have line buffers of their own. What is promised to be buffered still goes in packets. So does what lines
/// cannot carry, if slots hold it.
TEST(Selection, MessagesInLines) {
    Capabilities capabilities = gpu(2);
    capabilities.tuning[0].operations[BATON_SEND] = {
        {.up_to_bytes = 1 << 20, .algorithm = Algorithm::line, .mover = Mover::kernel, .grain = 4096},
        {.algorithm = Algorithm::push, .mover = Mover::kernel}};
    capabilities.line_bytes = 1 << 18;
    const auto algorithm_for = [&](std::uint64_t bytes) { return plan_for(BATON_RECV, bytes, capabilities).algorithm; };
    EXPECT_EQ(algorithm_for(capabilities.message_bytes), Algorithm::packet);
    EXPECT_EQ(plan_for(BATON_SEND, 65536, capabilities).channels, 31) << "packets have a grain of their own";
    EXPECT_EQ(algorithm_for(capabilities.message_bytes + 1), Algorithm::push);
    capabilities.message_line_bytes = 1 << 19;
    EXPECT_EQ(algorithm_for(BATON_EAGER_BYTES), Algorithm::packet);
    EXPECT_EQ(plan_for(BATON_SEND, BATON_EAGER_BYTES, capabilities).channels, 16);
    EXPECT_EQ(algorithm_for(BATON_EAGER_BYTES + 1), Algorithm::line);
    EXPECT_EQ(algorithm_for(1 << 19), Algorithm::line);
    EXPECT_EQ(plan_for(BATON_SEND, 1 << 19, capabilities).channels, 31) << "a block is left for a recv";
    EXPECT_EQ(algorithm_for((1 << 19) + 1), Algorithm::push);
    capabilities.reaches_buffers = false;
    EXPECT_EQ(algorithm_for(BATON_EAGER_BYTES + 1), Algorithm::packet) << "lines would be torn";
}

TEST(Tuning, LongestMessageOfAnAlgorithm) {
    const Tuning tuning = {*find_table(built_in_tables(), {.gpu = "NVIDIA H200", .link = "NVSwitch", .ranks = 2})};
    EXPECT_EQ(longest_message(tuning, goes_in_packets, 1 << 30), 65536u);
    EXPECT_EQ(longest_message(tuning, goes_in_lines, 1 << 30), 1048576u);
    EXPECT_EQ(longest_message(tuning, goes_in_lines, 100000), 100000u);
    EXPECT_EQ(longest_message(tuning, goes_through_staging, 100), 0u);
    EXPECT_EQ(longest_message({}, goes_in_lines, 100000), 0u);
}

/// Every channel's share for a peer fits that channel's lines, also where broadcast splits it again.
TEST(Selection, LinesHoldWhatTheyAreGiven) {
    std::size_t checked = 0;
    for (const int size : {1, 2, 3, 4, 8}) {
        for (const std::uint64_t limit : {100u, 4096u, 1000000u}) {
            Capabilities capabilities = gpu(size);
            const auto layout = ArenaLayout::make(size, capabilities.channels, {.lines = limit});
            capabilities.line_bytes = limit / 16 * 16;
            capabilities.line_channel_bytes = ArenaLayout::share_in_lines(layout.lines_per_channel);
            for (const baton_operation operation : {BATON_REDUCE_SCATTER, BATON_BROADCAST, BATON_ALLREDUCE}) {
                const bool twice = operation == BATON_ALLREDUCE;
                const Algorithm algorithm = twice ? Algorithm::two_shot_line : Algorithm::line;
                const int pieces = twice ? size : operation == BATON_BROADCAST && size > 1 ? size - 1 : 1;
                capabilities.tuning[0].operations[operation] = {
                    {.algorithm = algorithm, .mover = Mover::kernel, .channels = 5, .grain = 3000}};
                for (std::uint64_t bytes = 1; bytes <= limit * 7; bytes += bytes / 8 + 1) {
                    const Plan plan = plan_for(operation, bytes, capabilities);
                    if (plan.algorithm != algorithm) continue;
                    for (int channel = 0; channel < plan.channels; ++channel) {
                        const Range part = split(bytes, 16, plan.channels, channel);
                        const std::uint64_t lines = lines_for(split(part.bytes, 16, pieces, 0).bytes);
                        ++checked;
                        ASSERT_LE((twice ? 2 : 1) * lines, layout.lines_per_channel)
                            << size << " ranks, " << bytes << " of " << limit << " bytes, channel " << channel;
                    }
                }
            }
        }
    }
    EXPECT_GT(checked, 1000u);
}

TEST(Selection, NoBytesNeedNoPacketBuffers) {
    Capabilities none = gpu(4);
    none.packet_bytes = 0;
    none.packet_channel_bytes = 0;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 0, none).channels, 1);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1, none).algorithm, Algorithm::push);
}

TEST(Selection, ThePacketLimitWinsOverTheTable) {
    Capabilities asked = gpu(8);
    asked.packet_limit_set = true;
    asked.packet_bytes = 1024;
    asked.packet_channel_bytes = 48;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1024, asked).algorithm, Algorithm::packet);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1025, asked).algorithm, Algorithm::push);
    EXPECT_NE(text_for(BATON_ALLGATHER, 1024, asked).find("packet limit, 1 KiB"), std::string::npos);
    EXPECT_NE(text_for(BATON_ALLGATHER, 1025, asked).find("packet by kernel, which is not possible here"),
              std::string::npos);
    asked.packet_bytes = 1 << 20;
    asked.packet_channel_bytes = 32784;
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 1 << 20, asked).algorithm, Algorithm::packet);
    EXPECT_EQ(plan_for(BATON_SEND, 1 << 20, asked).algorithm, Algorithm::push) << "it is for collectives";
}

TEST(Selection, TheCopyEngineLimitWinsOverTheTable) {
    Capabilities asked = gpu(8);
    asked.copy_engine_limit = 1 << 20;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, (1 << 20) - 1, asked).mover, Mover::kernel);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 20, asked).mover, Mover::copy_engine);
    EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, 1 << 20, asked).mover, Mover::kernel) << "it is for unreduced data";
    EXPECT_NE(text_for(BATON_ALLGATHER, 1 << 20, asked).find("copy engine limit, 1 MiB"), std::string::npos);
    asked.copy_engine_limit = 1 << 30;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 29, asked).mover, Mover::kernel);
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 29, asked).channels, 32) << "the channels are those of the table's row";
}

/// Beside copy engines a kernel is slow to add blocks of other sizes.
TEST(Selection, CopyEnginesPushBlocksOfWholeWordsToBeCombined) {
    Capabilities capabilities = gpu(2);
    capabilities.tuning[0].operations[BATON_REDUCE_SCATTER] = {
        {.up_to_bytes = 8 << 20, .algorithm = Algorithm::pull, .mover = Mover::kernel},
        {.algorithm = Algorithm::push, .mover = Mover::copy_engine}};
    constexpr std::uint64_t bytes = 16 << 20;
    EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, bytes, capabilities).mover, Mover::copy_engine);
    const Plan plan = plan_for(BATON_REDUCE_SCATTER, bytes + 8, capabilities);
    EXPECT_EQ(plan.mover, Mover::kernel);
    EXPECT_EQ(plan.algorithm, Algorithm::pull);
    EXPECT_THAT(text_for(BATON_REDUCE_SCATTER, bytes + 8, capabilities),
                HasSubstr("for blocks that are multiples of 16 bytes"));
    capabilities.transport = BATON_TRANSPORT_COPY_ENGINE;
    EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, bytes + 8, capabilities).mover, Mover::copy_engine);
}

/// Otherwise only some ranks would count them among the calls in which the hosts meet.
TEST(Selection, ZeroSmReducesAndBroadcastsByKernels) {
    Capabilities zero_sm = gpu(8);
    zero_sm.transport = BATON_TRANSPORT_ZERO_SM;
    zero_sm.tuning = {*find_table(built_in_tables(), {.gpu = "NVIDIA H200", .link = "NVSwitch", .ranks = 8})};
    for (const baton_operation operation : {BATON_ALLREDUCE, BATON_REDUCE_SCATTER, BATON_BROADCAST}) {
        for (std::uint64_t bytes = 1; bytes <= 1ull << 34; bytes *= 4) {
            EXPECT_EQ(plan_for(operation, bytes, zero_sm).mover, Mover::kernel) << bytes;
        }
    }
    zero_sm.transport = BATON_TRANSPORT_AUTO;
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 1ull << 34, zero_sm).mover, Mover::copy_engine);
}

TEST(Selection, TheTransportWinsOverTheTable) {
    Capabilities asked = gpu(8);
    asked.transport = BATON_TRANSPORT_COPY_ENGINE;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 16, asked).mover, Mover::copy_engine);
    EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, 16, asked).algorithm, Algorithm::staged) << "a way that no row mentions";
    Capabilities two = gpu(2);
    two.transport = BATON_TRANSPORT_COPY_ENGINE;
    EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, 16, two).algorithm, Algorithm::push) << "which more ranks cannot";
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 16, asked).algorithm, Algorithm::push);
    EXPECT_EQ(plan_for(BATON_BROADCAST, 16, asked).mover, Mover::copy_engine);
    asked.packet_limit_set = true;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 16, asked).mover, Mover::copy_engine) << "the transport is the stronger wish";
    asked.transport = BATON_TRANSPORT_KERNEL;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 30, asked).mover, Mover::kernel);
    EXPECT_EQ(plan_for(BATON_PUT, 1 << 30, asked).mover, Mover::kernel);
    asked.transport = BATON_TRANSPORT_ZERO_SM;
    EXPECT_TRUE(plan_for(BATON_ALLGATHER, 16, asked).stream_words);
    EXPECT_EQ(plan_for(BATON_GET, 16, asked).mover, Mover::copy_engine);
    EXPECT_EQ(plan_for(BATON_REDUCE_SCATTER, 16, asked).mover, Mover::kernel);
    asked.size = 1;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 30, asked).mover, Mover::kernel) << "there is nobody to copy to";
}

TEST(Selection, WhatCannotBeReachedIsStaged) {
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 8193, host()).algorithm, Algorithm::staged);
    EXPECT_EQ(plan_for(BATON_SEND, 1 << 20, host()).algorithm, Algorithm::staged);
    EXPECT_NE(text_for(BATON_ALLGATHER, 8193, host()).find("refused"), std::string::npos);
    Capabilities reached = host();
    reached.reaches_buffers = true;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 8193, reached).algorithm, Algorithm::push);
}

/// The tables that are compiled in were measured with a processor for each rank.
TEST(Selection, CollectivesAreStagedWhereRanksShareProcessors) {
    Capabilities shared = host();
    shared.reaches_buffers = true;
    shared.single_copies_share_cpus = true;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 8193, shared).algorithm, Algorithm::push) << "the table of a file knows better";
    shared.tuning = {*find_table(built_in_tables(), host_tuning_key(2))};
    for (const OperationWays &entry : tuned_operations()) {
        if (!is_collective(entry.operation)) continue;
        EXPECT_EQ(plan_for(entry.operation, 1 << 20, shared).algorithm, Algorithm::staged) << entry.operation;
        EXPECT_EQ(plan_for(entry.operation, 1024, shared).algorithm, Algorithm::packet) << entry.operation;
    }
    EXPECT_EQ(text_for(BATON_BROADCAST, 1 << 20, shared),
              "staged by host, 1 channel: ranks are more than processors; pull by host, where each has its own, says "
              "the tuning table for host, shared memory, 2 ranks, above 8 KiB (built in)");
    EXPECT_EQ(plan_for(BATON_SEND, 1 << 20, shared).algorithm, Algorithm::pull);
    EXPECT_EQ(plan_for(BATON_PUT, 1 << 20, shared).algorithm, Algorithm::direct);
    shared.packet_bytes = 0;  // the row's packets are not possible: what comes in their place is staged too
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1024, shared).algorithm, Algorithm::staged);
    shared.single_copies_share_cpus = false;
    shared.reaches_buffers = false;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1 << 20, shared).reason, Reason::reach);
    shared.reaches_buffers = true;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1024, shared).algorithm, Algorithm::push);
    EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 20, shared).algorithm, Algorithm::pull);
    EXPECT_EQ(plan_for(BATON_ALLREDUCE, 1 << 20, shared).algorithm, Algorithm::two_shot);
}

/// Whatever is asked for, kernels run every operation of any size, and touch no memory but the ranks' arenas.
TEST(Selection, WhatGpusCannotReachGoesThroughArenas) {
    std::vector<baton_operation> operations{BATON_RECV, BATON_BARRIER};
    for (const OperationWays &entry : tuned_operations()) operations.push_back(entry.operation);
    for (const bool with_table : {true, false}) {
        for (const int size : {1, 2, 8}) {
            for (const baton_transport transport :
                 {BATON_TRANSPORT_AUTO, BATON_TRANSPORT_KERNEL, BATON_TRANSPORT_COPY_ENGINE, BATON_TRANSPORT_ZERO_SM}) {
                Capabilities apart = gpu_apart(size);
                apart.transport = transport;
                apart.copy_engine_limit = 1;
                if (!with_table) apart.tuning.clear();
                for (const baton_operation operation : operations) {
                    for (const std::uint64_t bytes : {0ull, 1ull, 65536ull, 65537ull, 8ull << 20, 1ull << 33}) {
                        const Plan plan = plan_for(operation, bytes, apart);
                        const std::string text = text_for(operation, bytes, apart);
                        EXPECT_EQ(plan.mover, Mover::kernel) << text;
                        EXPECT_FALSE(plan.stream_words) << text;
                        EXPECT_THAT(plan.algorithm,
                                    AnyOf(Algorithm::arrive, Algorithm::packet, Algorithm::staged, Algorithm::direct))
                            << text;
                        if (operation == BATON_RECV && bytes > apart.message_bytes) {
                            EXPECT_LE(plan.channels, message_lanes) << text;
                        }
                    }
                }
            }
        }
    }
}

TEST(Selection, SaysWhyGpusStage) {
    Capabilities apart = gpu_apart(8);
    apart.reach_reason = "GPUs 2 and 3 do not reach each other";
    for (const baton_operation operation :
         {BATON_ALLGATHER, BATON_ALLTOALL, BATON_BROADCAST, BATON_REDUCE_SCATTER, BATON_ALLREDUCE})
        EXPECT_EQ(plan_for(operation, 1 << 20, apart).algorithm, Algorithm::staged);
    EXPECT_EQ(text_for(BATON_ALLGATHER, 1 << 20, apart),
              "staged by kernel, 32 channels: GPUs 2 and 3 do not reach each other");
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1024, apart).algorithm, Algorithm::packet);
    apart.packet_bytes = apart.packet_channel_bytes = 0;
    EXPECT_EQ(plan_for(BATON_ALLGATHER, 1024, apart).algorithm, Algorithm::staged);
    EXPECT_EQ(text_for(BATON_SEND, 1 << 20, apart),
              "staged by kernel, 16 channels: GPUs 2 and 3 do not reach each other");
}

/// The links between GPUs say nothing about them.
TEST(Selection, GpusApartHaveATableOfTheirOwn) {
    Capabilities apart = gpu_apart(8);
    apart.tuning = {nearest_table(built_in_tables(), staging_tuning_key(std::vector<std::string>(8, "NVIDIA B200")))};
    for (const baton_operation operation :
         {BATON_ALLGATHER, BATON_ALLTOALL, BATON_BROADCAST, BATON_REDUCE_SCATTER, BATON_ALLREDUCE}) {
        EXPECT_EQ(plan_for(operation, 1024, apart).algorithm, Algorithm::packet) << baton_operation_name(operation);
        EXPECT_EQ(plan_for(operation, 1 << 20, apart).algorithm, Algorithm::staged) << baton_operation_name(operation);
        EXPECT_THAT(text_for(operation, 1024, apart), HasSubstr("NVIDIA H200, host memory, 8 ranks"));
    }
}

/// Whatever the machine, the tables and the settings say.
TEST(Selection, AnswersEveryRequestWithAPlanThatCanRun) {
    const auto staged_by_table = [](Capabilities capabilities) {
        for (const OperationWays &entry : tuned_operations()) {
            if (!is_collective(entry.operation)) continue;
            capabilities.tuning[0].operations[entry.operation] = {
                {.up_to_bytes = 4096, .algorithm = Algorithm::packet, .mover = Mover::kernel},
                {.algorithm = Algorithm::staged, .mover = Mover::kernel}};
        }
        return capabilities;
    };
    const auto by_built_in_tables = [](Capabilities capabilities) {
        const TuningKey key = capabilities.on_gpu ? TuningKey{"NVIDIA H200", "NVSwitch", capabilities.size}
                                                  : host_tuning_key(capabilities.size);
        capabilities.tuning = {nearest_table(built_in_tables(), key)};
        return capabilities;
    };
    const Capabilities apart = gpu_apart(8);
    Capabilities bare = gpu(8);
    bare.tuning.clear();
    const Links ring = ring_of({0, 1, 2, 3, 4, 5, 6, 7}), islands = islands_of({0, 0, 0, 0, 1, 1, 1, 1});
    for (Capabilities capabilities :
         {gpu(1), gpu(8), apart, bare, by_built_in_tables(gpu(1)), by_built_in_tables(gpu(2)),
          by_built_in_tables(gpu(4)), by_built_in_tables(gpu(8)), by_built_in_tables(apart), by_built_in_tables(host()),
          staged_by_table(gpu(8)), linked(gpu(8), ring), linked(bare, islands)}) {
        for (const baton_transport transport :
             {BATON_TRANSPORT_AUTO, BATON_TRANSPORT_KERNEL, BATON_TRANSPORT_COPY_ENGINE, BATON_TRANSPORT_ZERO_SM}) {
            if (!capabilities.on_gpu && transport != BATON_TRANSPORT_AUTO) continue;
            capabilities.transport = transport;
            for (const OperationWays &entry : tuned_operations()) {
                for (std::uint64_t bytes = 1; bytes <= 1ull << 34; bytes *= 4) {
                    const Plan plan = plan_for(entry.operation, bytes, capabilities);
                    SCOPED_TRACE(text_for(entry.operation, bytes, capabilities));
                    EXPECT_GE(plan.channels, 1);
                    EXPECT_LE(plan.channels, capabilities.channels);
                    EXPECT_EQ(plan.mover == Mover::host, !capabilities.on_gpu);
                    // What moves through staging is not among the ways that tuning tries.
                    EXPECT_TRUE(plan.algorithm == Algorithm::staged ||
                                std::any_of(entry.ways.begin(), entry.ways.end(), [&](const Way &way) {
                                    return way.algorithm == plan.algorithm && way.mover == plan.mover;
                                }));
                }
            }
        }
    }
}

TEST(Selection, WithoutATableThereIsAWayForEverything) {
    for (const bool on_gpu : {false, true}) {
        Capabilities bare = on_gpu ? gpu(4) : host();
        bare.tuning.clear();
        for (const OperationWays &entry : tuned_operations()) {
            for (const std::uint64_t bytes : {0ull, 100ull, 1ull << 33}) {
                const Plan plan = plan_for(entry.operation, bytes, bare);
                EXPECT_EQ(plan.mover == Mover::host, !on_gpu);
                EXPECT_GE(plan.channels, 1);
            }
        }
    }
}

TEST(Selection, BothSidesOfAMessageAgree) {
    for (const std::uint64_t bytes : {0ull, 16384ull, 16385ull, 32769ull, 1ull << 32}) {
        const Plan send = plan_for(BATON_SEND, bytes, gpu(2));
        const Plan recv = plan_for(BATON_RECV, bytes, gpu(2));
        EXPECT_EQ(send.algorithm, recv.algorithm);
        EXPECT_EQ(send.mover, recv.mover);
        EXPECT_EQ(send.channels, recv.channels);
    }
}

/// Nobody has measured what relays by copy engines cost, but who asks for them gets them.
TEST(Selection, BroadcastsThatNeedRelaysGoByCopyEngineWhereAsked) {
    Capabilities two = gpu(2), three = gpu(3);
    two.tuning =
        three.tuning = {*find_table(built_in_tables(), {.gpu = "NVIDIA H200", .link = "NVSwitch", .ranks = 2})};
    for (const std::uint64_t bytes : {64ull << 20, 1ull << 30}) {
        EXPECT_EQ(plan_for(BATON_BROADCAST, bytes, two).mover, Mover::copy_engine);
        EXPECT_EQ(plan_for(BATON_BROADCAST, bytes, three).mover, Mover::kernel) << "by the table for two";
    }
    EXPECT_EQ(text_for(BATON_BROADCAST, 1 << 30, three),
              "push by kernel, 32 channels: push by copy_engine, whose relays have not been measured, says the tuning "
              "table for NVIDIA H200, NVSwitch, 2 ranks, from 64 MiB on (built in)");
    Capabilities asked = three;
    asked.copy_engine_limit = 1 << 20;
    EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 30, asked).mover, Mover::copy_engine);
    asked = three;
    asked.tuning[0].built_in = false;
    EXPECT_EQ(plan_for(BATON_BROADCAST, 1 << 30, asked).mover, Mover::copy_engine);
}

/// What is buffered never waits for an address. The rest goes by copy engine where that is asked for.
TEST(Selection, LongMessagesByCopyEngine) {
    Capabilities asked = gpu(2);
    asked.transport = BATON_TRANSPORT_COPY_ENGINE;
    EXPECT_EQ(plan_for(BATON_SEND, asked.message_bytes, asked).mover, Mover::kernel);
    for (const baton_operation operation : {BATON_SEND, BATON_RECV}) {
        const Plan plan = plan_for(operation, asked.message_bytes + 1, asked);
        EXPECT_EQ(plan.mover, Mover::copy_engine);
        EXPECT_EQ(plan.algorithm, Algorithm::push);
    }
    asked.transport = BATON_TRANSPORT_KERNEL;
    EXPECT_EQ(plan_for(BATON_SEND, 1ull << 32, asked).mover, Mover::kernel);
}

}  // namespace
}  // namespace baton::core
