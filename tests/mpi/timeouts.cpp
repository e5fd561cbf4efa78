// A rank that never comes, and baton_comm_abort: the others return with the reason, and everything goes on.
#include <atomic>

#include "support/stopped.hpp"

namespace baton::test {
namespace {

constexpr double patience = 1.0;

class NobodyComes : public ::testing::TestWithParam<std::size_t> {
protected:
    void SetUp() override {
        if (world_size() < 2) GTEST_SKIP() << "nobody to wait for";
    }
    static int absent() { return world_size() - 1; }

    static void expect_timeout(const Breakage &breakage) {
        EXPECT_STREQ("BATON_ERR_TIMEOUT", baton_result_name(breakage.code)) << breakage.message;
        EXPECT_NE(breakage.message.find("rank " + std::to_string(absent())), std::string::npos)
            << "the rank waited for is not named: " << breakage.message;
        EXPECT_LT(breakage.seconds, patience * 8);
    }
    /// The absent rank waits for the others in MPI meanwhile, then sees what they did to the communicator.
    static void rejoin(baton_comm_t comm) {
        barrier();
        if (world_rank() != absent()) return;
        Stream stream(comm, Stream::Kind::own);
        const Breakage late = await_breakage(comm, baton_barrier(comm, stream), &stream);
        EXPECT_STREQ("BATON_ERR_TIMEOUT", baton_result_name(late.code)) << late.message;
    }
};

TEST_P(NobodyComes, Allreduce) {
    {
        FragileComm comm(patience);
        Buffer buffer(comm, GetParam() * 4);
        if (world_rank() != absent()) {
            Stream stream(comm, Stream::Kind::own);
            expect_timeout(await_breakage(
                comm, baton_allreduce(BATON_IN_PLACE, buffer.data(), GetParam(), BATON_INT32, BATON_SUM, comm, stream),
                &stream));
            expect_stays_broken(comm, BATON_ERR_TIMEOUT);
        }
        rejoin(comm);
    }
    Communicator fresh;
    expect_works(fresh);
}

TEST_P(NobodyComes, DoneOnReturn) {
    {
        FragileComm comm(patience);
        Buffer buffer(comm, GetParam() * 4);
        if (world_rank() != absent()) {
            Stream stream(comm, Stream::Kind::null);
            const baton_result result =
                baton_reduce_scatter(BATON_IN_PLACE, buffer.data(), GetParam() / static_cast<std::size_t>(world_size()),
                                     BATON_INT32, BATON_SUM, comm, stream);
            if (!on_gpu(comm)) {
                EXPECT_ERROR(BATON_ERR_TIMEOUT, result, "reduce_scatter");
            }
            expect_timeout(await_breakage(comm, result, &stream));
        }
        rejoin(comm);
    }
    Communicator fresh;
    expect_works(fresh);
}

/// Returns the error of what was queued, once, as cudaStreamSynchronize does.
TEST_P(NobodyComes, SynchronizingAHostStreamReturnsTheError) {
    FragileComm comm(patience);
    if (on_gpu(comm)) GTEST_SKIP() << "a GPU's streams are CUDA's";
    Buffer buffer(comm, GetParam() * 4);
    if (world_rank() != absent()) {
        Stream stream(comm, Stream::Kind::own);
        const auto queue = static_cast<baton_host_stream_t>(stream.get());
        EXPECT_OK(baton_barrier(comm, stream)) << "a queued call does not wait";
        const std::string missing = "rank " + std::to_string(absent());
        EXPECT_ERROR(BATON_ERR_TIMEOUT, baton_host_stream_synchronize(queue), "barrier", missing.c_str());
        EXPECT_OK(baton_host_stream_synchronize(queue)) << "the error has been returned";
    }
    rejoin(comm);
}

INSTANTIATE_TEST_SUITE_P(Counts, NobodyComes, ::testing::Values(64, 500000));

class Waits : public NobodyComes {};

TEST_P(Waits, Barrier) {
    FragileComm comm(patience);
    if (world_rank() != absent()) {
        Stream stream(comm, Stream::Kind::own);
        expect_timeout(await_breakage(comm, baton_barrier(comm, stream), &stream));
    }
    rejoin(comm);
}

TEST_P(Waits, Recv) {
    FragileComm comm(patience);
    Buffer buffer(comm, 400000);
    if (world_rank() != absent()) {
        Stream stream(comm, Stream::Kind::own);
        const std::size_t count = GetParam();
        expect_timeout(
            await_breakage(comm, baton_recv(buffer.data(), count, BATON_UINT8, absent(), comm, stream), &stream));
    }
    rejoin(comm);
}

/// Longer than anything that is buffered.
TEST_P(Waits, LongSend) {
    FragileComm comm(patience);
    constexpr std::size_t count = 3000000;
    Buffer buffer(comm, count);
    if (world_rank() != absent()) {
        Stream stream(comm, Stream::Kind::own);
        expect_timeout(
            await_breakage(comm, baton_send(buffer.data(), count, BATON_UINT8, absent(), comm, stream), &stream));
    }
    rejoin(comm);
}

TEST_P(Waits, WaitSignal) {
    FragileComm comm(patience);
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm, 1000, &window, &base));
    if (world_rank() != absent()) {
        Stream stream(comm, Stream::Kind::own);
        expect_timeout(await_breakage(comm, baton_wait_signal(absent(), 1, window, stream), &stream));
    }
    rejoin(comm);
}

INSTANTIATE_TEST_SUITE_P(Bytes, Waits, ::testing::Values(100, 400000));

/// Local calls that wait for the peers to map memory. A peer that does not answer breaks the communicator, as in any
/// other call.
class NobodyMaps : public ::testing::TestWithParam<bool> {};

TEST_P(NobodyMaps, WhatIsMadeKnown) {
    if (world_size() < 2) GTEST_SKIP() << "nobody to wait for";
    Communicator other;
    baton_info info{};
    info.struct_size = sizeof(info);
    ASSERT_OK(baton_comm_info(other, &info));
    if (info.on_gpu != 0 && info.peer_access == 0) GTEST_SKIP() << "no peer maps a GPU's memory";
    void *unknown = nullptr;  // unknown to the communicator that breaks
    ASSERT_OK(baton_malloc(other, 1000, &unknown));
    {
        FragileComm comm(patience);
        const pid_t last = process_of(world_size() - 1);
        barrier();
        if (world_rank() == 0) {
            const Stopped stopped(last);
            void *memory = nullptr;
            const bool allocate = GetParam();
            const baton_result result =
                allocate ? baton_malloc(comm, 1000, &memory) : baton_register(comm, unknown, 1000);
            EXPECT_ERROR(BATON_ERR_TIMEOUT, result, allocate ? "baton_malloc" : "baton_register",
                         "rank " + std::to_string(world_size() - 1));
            expect_stays_broken(comm, BATON_ERR_TIMEOUT);
        }
        barrier();
        const Breakage breakage = await_breakage(comm, BATON_SUCCESS, nullptr);
        EXPECT_STREQ("BATON_ERR_TIMEOUT", baton_result_name(breakage.code)) << breakage.message;
        EXPECT_NE(breakage.message.find("has not mapped"), std::string::npos) << breakage.message;
        barrier();
    }
    EXPECT_OK(baton_free(other, unknown));
    expect_works(other);
}

INSTANTIATE_TEST_SUITE_P(MallocOrRegister, NobodyMaps, ::testing::Bool());

/// More messages than the queue holds, or than longer messages have buffers, and nobody receives.
class QueueOverflow : public ::testing::TestWithParam<std::size_t> {};

TEST_P(QueueOverflow, TimesOut) {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    FragileComm comm(patience);
    Buffer buffer(comm, GetParam());
    if (world_rank() == 0) {
        Stream stream(comm, Stream::Kind::own);
        baton_result result = BATON_SUCCESS;
        for (int i = 0; i <= BATON_QUEUE_DEPTH && result == BATON_SUCCESS; ++i)
            result = baton_send(buffer.data(), GetParam(), BATON_UINT8, 1, comm, stream);
        const Breakage breakage = await_breakage(comm, result, &stream);
        EXPECT_STREQ("BATON_ERR_TIMEOUT", baton_result_name(breakage.code)) << breakage.message;
        EXPECT_NE(breakage.message.find("rank 1"), std::string::npos) << breakage.message;
    }
    barrier();
    if (world_rank() != 0) {
        const Breakage breakage = await_breakage(comm, BATON_SUCCESS, nullptr);
        EXPECT_STREQ("BATON_ERR_TIMEOUT", baton_result_name(breakage.code)) << breakage.message;
    }
}

INSTANTIATE_TEST_SUITE_P(Bytes, QueueOverflow, ::testing::Values(64, 400000));

/// The others may wait already, or come later: the abort reaches them either way.
TEST(Abort, ReachesWaitingRanks) {
    for (std::size_t count : {std::size_t{16}, std::size_t{400000}}) {
        {
            FragileComm comm(20);
            Buffer buffer(comm, count * 4);
            Stream stream(comm, Stream::Kind::own);
            if (world_rank() == world_size() - 1) {
                EXPECT_OK(baton_comm_abort(comm));
                EXPECT_OK(baton_comm_abort(comm)) << "a second abort changes nothing";
            } else {
                const baton_result result =
                    baton_allreduce(BATON_IN_PLACE, buffer.data(), count, BATON_INT32, BATON_SUM, comm, stream);
                const Breakage breakage = await_breakage(comm, result, &stream);
                EXPECT_STREQ("BATON_ERR_ABORTED", baton_result_name(breakage.code)) << breakage.message;
                EXPECT_NE(breakage.message.find(std::to_string(world_size() - 1)), std::string::npos)
                    << "who aborted is not named: " << breakage.message;
                EXPECT_LT(breakage.seconds, 10);
            }
            expect_stays_broken(comm, BATON_ERR_ABORTED);
            barrier();
        }
        Communicator fresh;
        expect_works(fresh);
    }
}

/// A rank that aborts and destroys leaves at once, also for ranks that wait for its answer.
TEST(Abort, OfARankThatLeavesReachesWhoMakesMemoryKnown) {
    for (int i = 0; i < 10; ++i) {
        baton_config config = default_config();
        baton_comm_t comm = nullptr;
        ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
        if (world_rank() == world_size() - 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(i));
            EXPECT_OK(baton_comm_abort(comm));
        } else {
            void *memory = nullptr;
            baton_result result = BATON_SUCCESS;
            while ((result = baton_malloc(comm, 100, &memory)) == BATON_SUCCESS) EXPECT_OK(baton_free(comm, memory));
            EXPECT_STREQ("BATON_ERR_ABORTED", baton_result_name(result)) << baton_last_error();
        }
        EXPECT_OK(baton_comm_destroy(comm));
    }
}

/// By another thread of the very rank whose call waits.
TEST(Abort, FromAnotherThread) {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    FragileComm comm(20);
    if (world_rank() == 0) {
        Buffer buffer(comm, 64);
        Stream stream(comm, Stream::Kind::null);
        std::thread breaker([&] { EXPECT_OK(baton_comm_abort(comm)); });
        const Breakage breakage = await_breakage(
            comm, baton_allreduce(BATON_IN_PLACE, buffer.data(), 16, BATON_INT32, BATON_SUM, comm, stream), nullptr);
        EXPECT_STREQ("BATON_ERR_ABORTED", baton_result_name(breakage.code)) << breakage.message;
        breaker.join();
    }
    barrier();
    EXPECT_ERROR(BATON_ERR_ABORTED, baton_comm_check(comm));
}

/// The put is enqueued after a call that the abort ends.
TEST(Abort, APutThatHasNotBegunIsNotMade) {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    constexpr std::size_t bytes = 64;
    FragileComm comm(20);
    if (on_gpu(comm)) GTEST_SKIP() << "of GPUs, copies that are enqueued are made";
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm, bytes, &window, &base));
    Buffer source(comm, bytes), never_sent(comm, bytes);
    barrier();  // an earlier abort could end the window's creation
    if (world_rank() == 0) {
        Stream stream(comm, Stream::Kind::own);
        EXPECT_OK(baton_recv(never_sent.data(), bytes, BATON_UINT8, 1, comm, stream));
        EXPECT_OK(baton_put(source.data(), bytes, 1, 0, window, stream));
        EXPECT_OK(baton_comm_abort(comm));
        EXPECT_ERROR(BATON_ERR_ABORTED, baton_host_stream_synchronize(static_cast<baton_host_stream_t>(stream.get())));
    }
    barrier();
    Bytes found(bytes, std::byte{1});
    copy_memory(found.data(), base, bytes, false);
    EXPECT_TRUE(same_bytes(Bytes(bytes), found));
    barrier();
}

TEST(Abort, ShowsInAHostStreamThatIsDestroyed) {
    FragileComm comm(20);
    if (on_gpu(comm)) GTEST_SKIP() << "a CUDA stream sees no error";
    baton_host_stream_t stream = nullptr;
    ASSERT_OK(baton_host_stream_create(&stream));
    Buffer never_sent(comm, 64);
    EXPECT_OK(baton_recv(never_sent.data(), 64, BATON_UINT8, world_rank(), comm, stream));
    barrier();
    EXPECT_OK(baton_comm_abort(comm));
    EXPECT_ERROR(BATON_ERR_ABORTED, baton_host_stream_destroy(stream));
    EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_host_stream_destroy(stream));  // it is gone all the same
}

/// Ranks drift apart while they set up, so a creation may wait longer than the communicator's calls.
TEST(Creation, HasPatienceOfItsOwn) {
    baton_config config = default_config();
    config.timeout_seconds = 1e-12;  // shorter than a nanosecond
    for (int i = 0; i < 5; ++i) {
        baton_comm_t comm = nullptr;
        ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, &config, &comm));
        EXPECT_OK(baton_comm_abort(comm));
        EXPECT_OK(baton_comm_destroy(comm));
    }
}

/// A broken communicator leaves its neighbours alone.
TEST(Abort, LeavesOtherCommunicatorsAlone) {
    Communicator good;
    {
        FragileComm bad(20);
        EXPECT_OK(baton_comm_abort(bad));
        expect_works(good);
        barrier();
    }
    expect_works(good, 2);
}

}  // namespace
}  // namespace baton::test
