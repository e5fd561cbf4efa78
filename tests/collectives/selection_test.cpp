#include <gtest/gtest.h>

#include "collectives/selection.hpp"

namespace baton::core {
namespace {

Capabilities gpu(int size) {
    Capabilities capabilities;
    capabilities.size = size;
    capabilities.on_gpu = true;
    capabilities.reaches_buffers = true;
    capabilities.reach_reason = "mapped";
    capabilities.channels = 32;
    capabilities.packet_bytes = 65536;
    capabilities.packet_channel_bytes = 2064;
    capabilities.message_bytes = 16384;
    capabilities.segment_bytes = 1 << 20;
    capabilities.copy_engine_limit = 8 << 20;
    return capabilities;
}

Request request(baton_operation operation, std::uint64_t bytes) {
    Request made;
    made.operation = operation;
    made.count = bytes;
    made.bytes = bytes;
    return made;
}

TEST(Selection, SmallGoesByPacketLargeDirectly) {
    EXPECT_EQ(select(request(BATON_ALLGATHER, 65536), gpu(8)).algorithm, Algorithm::packet);
    EXPECT_EQ(select(request(BATON_ALLGATHER, 65537), gpu(8)).algorithm, Algorithm::push);
    EXPECT_EQ(select(request(BATON_REDUCE_SCATTER, 65537), gpu(8)).algorithm, Algorithm::pull);
    EXPECT_EQ(select(request(BATON_ALLREDUCE, 65537), gpu(8)).algorithm, Algorithm::two_shot);
}

TEST(Selection, AlltoallIsMovedAsAllgatherIs) {
    for (const baton_transport transport :
         {BATON_TRANSPORT_AUTO, BATON_TRANSPORT_KERNEL, BATON_TRANSPORT_COPY_ENGINE, BATON_TRANSPORT_ZERO_SM}) {
        Capabilities capabilities = gpu(8);
        capabilities.transport = transport;
        for (const std::uint64_t bytes : {0ull, 1ull, 65536ull, 65537ull, 8ull << 20, 1ull << 32}) {
            const Plan gather = select(request(BATON_ALLGATHER, bytes), capabilities);
            const Plan exchange = select(request(BATON_ALLTOALL, bytes), capabilities);
            EXPECT_EQ(exchange.algorithm, gather.algorithm) << transport << " " << bytes;
            EXPECT_EQ(exchange.mover, gather.mover) << transport << " " << bytes;
            EXPECT_EQ(exchange.channels, gather.channels) << transport << " " << bytes;
            EXPECT_EQ(exchange.stream_words, gather.stream_words) << transport << " " << bytes;
        }
    }
}

/// What is relayed must be read by whoever waits for it: copy engines do not wait for one peer.
TEST(Selection, BroadcastIsNeverMovedByCopyEngines) {
    for (const baton_transport transport :
         {BATON_TRANSPORT_AUTO, BATON_TRANSPORT_KERNEL, BATON_TRANSPORT_COPY_ENGINE, BATON_TRANSPORT_ZERO_SM}) {
        Capabilities capabilities = gpu(8);
        capabilities.transport = transport;
        EXPECT_EQ(select(request(BATON_BROADCAST, 65536), capabilities).algorithm, Algorithm::packet);
        const Plan large = select(request(BATON_BROADCAST, 1ull << 32), capabilities);
        EXPECT_EQ(large.algorithm, Algorithm::push);
        EXPECT_EQ(large.mover, Mover::kernel);
        EXPECT_EQ(large.channels, capabilities.channels);
        EXPECT_FALSE(large.stream_words);
    }
}

TEST(Selection, PacketsFitTheirChannels) {
    const Capabilities capabilities = gpu(8);
    for (std::uint64_t bytes = 0; bytes <= capabilities.packet_bytes; bytes += 13) {
        const Plan plan = select(request(BATON_ALLREDUCE, bytes), capabilities);
        ASSERT_EQ(plan.algorithm, Algorithm::packet);
        const auto channels = static_cast<std::uint64_t>(plan.channels);
        const std::uint64_t share = ((bytes + channels - 1) / channels + 15) / 16 * 16;
        ASSERT_LE(share, capabilities.packet_channel_bytes) << bytes;
    }
}

TEST(Selection, NoBytesNeedNoPacketBuffers) {
    Capabilities none = gpu(4);
    none.packet_bytes = 0;
    none.packet_channel_bytes = 0;
    EXPECT_EQ(select(request(BATON_ALLGATHER, 0), none).channels, 1);
    EXPECT_EQ(select(request(BATON_ALLGATHER, 1), none).algorithm, Algorithm::push);
}

TEST(Selection, CopyEnginesFromTheirLimitOrOnRequest) {
    EXPECT_EQ(select(request(BATON_ALLGATHER, (8 << 20) - 1), gpu(8)).mover, Mover::kernel);
    EXPECT_EQ(select(request(BATON_ALLGATHER, 8 << 20), gpu(8)).mover, Mover::copy_engine);
    Capabilities asked = gpu(8);
    asked.transport = BATON_TRANSPORT_COPY_ENGINE;
    EXPECT_EQ(select(request(BATON_ALLGATHER, 16), asked).mover, Mover::copy_engine);
    EXPECT_EQ(select(request(BATON_REDUCE_SCATTER, 16), asked).algorithm, Algorithm::staged);
    asked.transport = BATON_TRANSPORT_KERNEL;
    EXPECT_EQ(select(request(BATON_ALLGATHER, 1 << 30), asked).mover, Mover::kernel);
    asked.transport = BATON_TRANSPORT_ZERO_SM;
    EXPECT_TRUE(select(request(BATON_ALLGATHER, 16), asked).stream_words);
}

TEST(Selection, WhatCannotBeReachedIsStaged) {
    Capabilities host;
    host.size = 4;
    host.packet_bytes = 8192;
    host.message_bytes = 16384;
    host.packet_channel_bytes = 8208;
    host.reach_reason = "refused";
    EXPECT_EQ(select(request(BATON_ALLGATHER, 8193), host).algorithm, Algorithm::staged);
    EXPECT_EQ(select(request(BATON_ALLTOALL, 8193), host).algorithm, Algorithm::staged);
    EXPECT_EQ(select(request(BATON_BROADCAST, 8193), host).algorithm, Algorithm::staged);
    EXPECT_EQ(select(request(BATON_SEND, 1 << 20), host).algorithm, Algorithm::packet);
    EXPECT_NE(
        describe(select(request(BATON_ALLGATHER, 8193), host), request(BATON_ALLGATHER, 8193), host).find("refused"),
        std::string::npos);
    host.reaches_buffers = true;
    EXPECT_EQ(select(request(BATON_ALLGATHER, 8193), host).algorithm, Algorithm::push);
}

TEST(Selection, BothSidesOfAMessageAgree) {
    for (const std::uint64_t bytes : {0ull, 16384ull, 16385ull, 1ull << 32}) {
        const Plan send = select(request(BATON_SEND, bytes), gpu(2));
        const Plan recv = select(request(BATON_RECV, bytes), gpu(2));
        EXPECT_EQ(send.algorithm, recv.algorithm);
        EXPECT_EQ(send.channels, recv.channels);
    }
}

}  // namespace
}  // namespace baton::core
