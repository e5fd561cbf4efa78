// Sizes of arenas under the compiled-in tables.
#include "comm/arena_limits.hpp"

#include <gtest/gtest.h>

#include "collectives/selection.hpp"
#include "collectives/tuning_file.hpp"
#include "comm/config.hpp"
#include "transport/transport.hpp"
#include "util/limits.hpp"

namespace baton::core {
namespace {

constexpr std::uint64_t MiB = 1 << 20;

Capabilities capabilities_of(const TuningTable &table, int size) {
    Capabilities capabilities;
    capabilities.size = size;
    capabilities.on_gpu = !table.key.on_host();
    capabilities.channels = capabilities.on_gpu ? 64 : 1;  // the most that a rank alone on an H200 gets
    capabilities.links.all_nvlink = capabilities.on_gpu && !table.key.is_apart();
    capabilities.tuning = {table};
    return capabilities;
}

struct Arenas {
    ArenaLayout::Limits limits;
    ArenaLayout layout;
};

Arenas arenas(const baton_config &config, const Capabilities &capabilities, bool reach_each_other = true,
              std::vector<int> generations = {}) {
    if (generations.empty() && capabilities.on_gpu) generations.assign(static_cast<std::size_t>(capabilities.size), 9);
    const ArenaLayout::Limits limits = arena_limits(config, capabilities, reach_each_other, generations);
    return {limits, ArenaLayout::make(capabilities.size, capabilities.channels, limits)};
}

TEST(ArenaLimits, UpToEightRanksHaveSmallArenas) {
    const baton_config config = resolve_config(nullptr);
    for (TuningKey key : {TuningKey{"NVIDIA H200", "NVSwitch", 1}, TuningKey{"NVIDIA H200", TuningKey::apart, 1},
                          TuningKey{"host", "shared memory", 1}}) {
        for (key.ranks = 1; key.ranks <= 8; ++key.ranks) {
            const TuningTable table = nearest_table(built_in_tables(), key);
            const Arenas made = arenas(config, capabilities_of(table, key.ranks), !key.is_apart());
            EXPECT_LE(made.layout.total_bytes, key.on_host() ? 16 * MiB : 64 * MiB) << to_string(key);
            EXPECT_GE(made.layout.message_capacity, std::uint64_t{BATON_EAGER_BYTES}) << to_string(key);
        }
    }
}

TEST(ArenaLimits, LinesAreForWhoReachesEachOther) {
    for (const TuningTable &table : built_in_tables()) {
        if (table.key.on_host() || table.key.is_apart() || table.key.ranks != 2) continue;
        const Capabilities capabilities = capabilities_of(table, 2);
        baton_config config = resolve_config(nullptr);
        EXPECT_GT(arenas(config, capabilities).limits.lines, 0U);
        EXPECT_GT(arenas(config, capabilities).limits.message_lines, 0U);
        EXPECT_EQ(arenas(config, capabilities).limits.message_staged, 0U);
        EXPECT_EQ(arenas(config, capabilities, true, {9, 8}).limits.lines, 0U);  // not all are Hopper
        EXPECT_EQ(arenas(config, capabilities, false).limits.lines, 0U);
        EXPECT_GT(arenas(config, capabilities, false).limits.message_staged, 0U);
        EXPECT_EQ(arenas(config, capabilities).limits.early, 0U);
        EXPECT_EQ(arenas(config, capabilities, false).limits.early, 65536U);
        config.lines = BATON_LINES_OFF;
        EXPECT_EQ(arenas(config, capabilities).limits.lines, 0U);
        EXPECT_EQ(arenas(config, capabilities).limits.message_lines, 0U);
        // Then slots hold what lines would have carried, up to the slots' limit.
        EXPECT_GT(arenas(config, capabilities).limits.messages, std::uint64_t{BATON_EAGER_BYTES});
        return;
    }
    FAIL() << "no table of two GPUs";
}

/// Two runs of lines for each of the seven warps of a channel's two blocks, so that one is under way while the other is
/// taken.
TEST(ArenaLimits, RingsOfLinesHaveRoomForEveryWarp) {
    for (int ranks = 4; ranks < 8; ++ranks) {
        const TuningTable &table = nearest_table(built_in_tables(), {"NVIDIA H200", "NVSwitch", ranks});
        const ArenaLayout layout = arenas(resolve_config(nullptr), capabilities_of(table, ranks)).layout;
        EXPECT_GE(layout.lines_per_channel * static_cast<std::uint64_t>(ranks), 2u * 2 * 7 * lines_of_run) << ranks;
    }
}

/// The least that selection asks for holds a run for each block, however many ranks and channels there are.
TEST(ArenaLimits, TheShortestRingsHoldARunOfLines) {
    for (int ranks = 1; ranks <= max_ranks; ++ranks) {
        const std::uint64_t least = bytes_to_a_peer(BATON_BROADCAST, Algorithm::pipeline_line, 1, ranks);
        for (int channels = 1; channels <= max_channels; ++channels) {
            const ArenaLayout layout = ArenaLayout::make(ranks, channels, {.lines = least});
            EXPECT_GE(layout.lines_per_channel * static_cast<std::uint64_t>(ranks) / 2, lines_of_run)
                << ranks << " ranks, " << channels << " channels";
        }
    }
}

/// Up to a row's last size: where its buffers are too small for it, a row would never be followed.
TEST(ArenaLimits, BuffersHoldWhatTheRowsThatTheyAreMadeForPutIntoThem) {
    const baton_config config = resolve_config(nullptr);
    for (TuningKey key : {TuningKey{"NVIDIA H200", "NVSwitch", 1}, TuningKey{"NVIDIA H200", TuningKey::apart, 1},
                          TuningKey{"host", "shared memory", 1}}) {
        for (key.ranks = 2; key.ranks <= 16; ++key.ranks) {
            const TuningTable &table = nearest_table(built_in_tables(), key);
            for (const int channels : key.on_host() ? std::vector{1} : std::vector{8, 31, 64}) {
                Capabilities capabilities = capabilities_of(table, key.ranks);
                capabilities.channels = channels;
                capabilities.reaches_buffers = !key.is_apart();
                const Arenas made = arenas(config, capabilities, !key.is_apart());
                take_arena_sizes(made.limits, made.layout, capabilities);
                for (const auto &[operation, rows] : table.operations) {
                    // With more than 8 ranks, a peer's messages have less memory than the longest rows of 8 take.
                    if (operation == BATON_SEND && key.ranks > 8) continue;
                    for (const TuningRow &row : rows) {
                        if (!goes_in_packets(row.algorithm) && !goes_in_lines(row.algorithm)) continue;
                        if (row.up_to_bytes == TuningRow::no_limit ||
                            !serves(*way_by(operation, row.algorithm), key.ranks))
                            continue;
                        for (const std::uint64_t bytes : {row.up_to_bytes, row.up_to_bytes - 1}) {
                            Request request;
                            request.operation = operation;
                            request.count = request.bytes = bytes;
                            const Plan plan = select(request, capabilities);
                            EXPECT_TRUE(plan.reason == Reason::tuned || plan.reason == Reason::buffered)
                                << to_string(key) << ", " << channels << " channels, "
                                << baton_operation_name(operation) << " of " << bytes << ": "
                                << describe(plan, request, capabilities);
                        }
                    }
                }
            }
        }
    }
}

/// Otherwise a message's pieces would be empty, and would never come to an end.
TEST(ArenaLimits, StagingHoldsTwoPiecesOfEachChannelOrThereIsNone) {
    const baton_config config = resolve_config(nullptr);
    for (TuningKey key : {TuningKey{"NVIDIA H200", "NVSwitch", 1}, TuningKey{"NVIDIA H200", TuningKey::apart, 1},
                          TuningKey{"host", "shared memory", 1}}) {
        for (key.ranks = 1; key.ranks <= max_ranks; ++key.ranks) {
            const Capabilities capabilities = capabilities_of(nearest_table(built_in_tables(), key), key.ranks);
            const std::uint64_t staged = arenas(config, capabilities, !key.is_apart()).layout.message_staged;
            if (capabilities.on_gpu && !key.is_apart()) {
                EXPECT_EQ(staged, 0U) << to_string(key);
            } else {
                const int channels = capabilities.on_gpu ? message_lanes : 1;
                EXPECT_GE(staged, 2 * static_cast<std::uint64_t>(channels) * copy_granule) << to_string(key);
            }
        }
    }
}

TEST(ArenaLimits, SlotsOfAllPeersTakeNoMoreWhereTheyAreMany) {
    const baton_config config = resolve_config(nullptr);
    for (TuningKey key : {TuningKey{"NVIDIA H200", TuningKey::apart, 1}, TuningKey{"host", "shared memory", 1}}) {
        for (key.ranks = 16; key.ranks <= max_ranks; key.ranks *= 2) {
            const TuningTable table = nearest_table(built_in_tables(), key);
            const Arenas made = arenas(config, capabilities_of(table, key.ranks), false);
            EXPECT_EQ(made.limits.early > 0, !key.on_host());
            const auto peers = static_cast<std::uint64_t>(key.ranks);
            EXPECT_LE(made.limits.messages * message_slots * peers, 8 * MiB) << to_string(key);
            EXPECT_GE(made.limits.messages, std::uint64_t{BATON_EAGER_BYTES}) << to_string(key);
        }
    }
}

TEST(ArenaLimits, TheUsersPacketLimitStands) {
    baton_config config = resolve_config(nullptr);
    const Capabilities capabilities = capabilities_of(built_in_tables().front(), 2);
    ASSERT_TRUE(capabilities.on_gpu);
    for (const std::size_t asked : {std::size_t{0}, std::size_t{4096}, std::size_t{1} << 20}) {
        config.packet_limit = asked;
        EXPECT_EQ(arenas(config, capabilities).limits.packets, asked);
    }
    config.packet_limit = std::size_t{1} << 30;  // more than packets are good for
    EXPECT_EQ(arenas(config, capabilities).limits.packets, MiB);
}

}  // namespace
}  // namespace baton::core
