// How many channels ranks that share GPUs get, whatever the size of the GPUs.
#include "comm/gpu_share.hpp"

#include <gtest/gtest.h>

#include "sync/arena.hpp"

namespace baton::core {
namespace {

constexpr int h200 = 132;

/// `ranks` ranks on each of `count` GPUs.
std::vector<DeviceIdentity> gpus(int count, int ranks, int multiprocessors) {
    std::vector<DeviceIdentity> all;
    for (int gpu = 0; gpu < count; ++gpu) {
        for (int rank = 0; rank < ranks; ++rank)
            all.push_back({"a GPU", "GPU-" + std::to_string(gpu), 9, multiprocessors});
    }
    return all;
}

TEST(GpuShare, RanksOfAnH200HalveItsChannels) {
    EXPECT_EQ(channels_of(gpus(8, 1, h200), max_channels), 64);
    EXPECT_EQ(channels_of(gpus(1, 2, h200), max_channels), 32);
    EXPECT_EQ(channels_of(gpus(2, 4, h200), max_channels), 16);
    EXPECT_EQ(channels_of(gpus(1, 8, h200), max_channels), 8);
}

TEST(GpuShare, WhatIsResidentOnSmallGpusLimitsThem) {
    EXPECT_EQ(channels_of(gpus(1, 1, 16), max_channels), 8);  // MIG 1g of an H200
    EXPECT_EQ(channels_of(gpus(1, 4, 16), max_channels), 2);
    for (const int multiprocessors : {1, 6, 16, 32, 60, 108, 132, 160}) {
        for (const int ranks : {1, 2, 3, 7, 8}) {
            const int channels = channels_of(gpus(1, ranks, multiprocessors), max_channels);
            EXPECT_GE(channels, 1);
            // Two blocks a multiprocessor for four communicators, or one channel where there is no room for that.
            EXPECT_TRUE(channels == 1 || channels * ranks * 4 <= multiprocessors * 2)
                << multiprocessors << ", " << ranks;
        }
    }
}

TEST(GpuShare, AllHaveTheChannelsOfTheSmallestPart) {
    std::vector<DeviceIdentity> unlike = gpus(2, 1, h200);
    unlike[1].multiprocessors = 60;
    EXPECT_EQ(channels_of(unlike, max_channels), 30);
    std::vector<DeviceIdentity> crowded = gpus(1, 3, h200);
    crowded.push_back({"a GPU", "GPU-alone", 9, h200});
    EXPECT_EQ(channels_of(crowded, max_channels), 21);
    EXPECT_EQ(ranks_on_gpu(crowded, "GPU-0"), 3);
    EXPECT_EQ(ranks_on_gpu(crowded, "GPU-alone"), 1);
}

TEST(GpuShare, NoMoreThanIsAllowed) { EXPECT_EQ(channels_of(gpus(1, 2, h200), 5), 5); }

}  // namespace
}  // namespace baton::core
