// Ranks that disagree: every rank gets BATON_ERR_MISMATCH, from the call or soon after, with a message that names the
// ranks and what differs.
#include <algorithm>
#include <functional>

#include "support/set_variable.hpp"
#include "support/stopped.hpp"

namespace baton::test {
namespace {

struct Odd {
    baton_comm_t comm;
    Stream &stream;
    void *send, *recv;
};

struct MismatchCase {
    const char *name;
    std::function<baton_result(const Odd &)> usual;      ///< what all ranks but the last call
    std::function<baton_result(const Odd &)> different;  ///< what the last rank calls
    std::vector<std::string> words;                      ///< every message must contain each
};

std::function<baton_result(const Odd &)> allreduce(std::size_t count, baton_type type = BATON_INT32,
                                                   baton_op op = BATON_SUM) {
    return [=](const Odd &o) { return baton_allreduce(o.send, o.recv, count, type, op, o.comm, o.stream); };
}
std::function<baton_result(const Odd &)> reduce_scatter(std::size_t count, baton_op op = BATON_SUM) {
    return
        [=](const Odd &o) { return baton_reduce_scatter(o.send, o.recv, count, BATON_FLOAT32, op, o.comm, o.stream); };
}
std::function<baton_result(const Odd &)> allgather(std::size_t count, baton_type type = BATON_INT32) {
    return [=](const Odd &o) { return baton_allgather(o.send, o.recv, count, type, o.comm, o.stream); };
}
std::function<baton_result(const Odd &)> alltoall(std::size_t count) {
    return [=](const Odd &o) { return baton_alltoall(o.send, o.recv, count, BATON_INT32, o.comm, o.stream); };
}
std::function<baton_result(const Odd &)> broadcast(std::size_t count, int root) {
    return [=](const Odd &o) { return baton_broadcast(o.send, o.recv, count, BATON_INT32, root, o.comm, o.stream); };
}
std::function<baton_result(const Odd &)> call_barrier() {
    return [](const Odd &o) { return baton_barrier(o.comm, o.stream); };
}

const std::vector<MismatchCase> &cases() {
    static const std::vector<MismatchCase> all = {
        {"CountSmall", allreduce(100), allreduce(101), {"100", "101"}},
        {"CountLarge", allreduce(300000), allreduce(300001), {"300000", "300001"}},
        {"CountSmallAgainstLarge", allgather(10), allgather(100003), {"10", "100003"}},
        {"CountOfReduceScatter", reduce_scatter(1000), reduce_scatter(77), {"1000", "77"}},
        {"Type", allreduce(500, BATON_INT32), allreduce(500, BATON_FLOAT32), {"int32", "float32"}},
        {"TypeOfAnotherSize", allgather(64, BATON_INT64), allgather(128, BATON_INT32), {"int64", "int32"}},
        {"Op", allreduce(50, BATON_INT32, BATON_SUM), allreduce(50, BATON_INT32, BATON_MAX), {"sum", "max"}},
        {"OpLarge", reduce_scatter(90000, BATON_MIN), reduce_scatter(90000, BATON_PROD), {"min", "prod"}},
        {"Operation", allgather(200), allreduce(200), {"allgather", "allreduce"}},
        {"OperationLarge", allgather(80000), reduce_scatter(80000), {"allgather", "reduce_scatter"}},
        {"Root", broadcast(300, 0), broadcast(300, 1), {"root 0", "root 1"}},
        {"RootLarge", broadcast(300000, 1), broadcast(300000, 0), {"root 0", "root 1"}},
        {"CountOfBroadcast", broadcast(70, 0), broadcast(70000, 0), {"broadcast", "70,", "70000"}},
        {"CountOfAlltoall", alltoall(100000), alltoall(100001), {"alltoall", "100000", "100001"}},
        {"AlltoallAgainstAllgather", alltoall(200), allgather(200), {"alltoall", "allgather"}},
        {"BarrierAgainstCollective", call_barrier(), allreduce(8), {"barrier", "allreduce"}},
    };
    return all;
}

class Mismatch : public ::testing::TestWithParam<std::size_t> {
protected:
    void SetUp() override {
        if (world_size() < 2) GTEST_SKIP() << "one rank agrees with itself";
    }
};

void check_case(const MismatchCase &c, Stream::Kind kind) {
    {
        FragileComm comm(10);
        Buffer send(comm, static_cast<std::size_t>(std::max(3, world_size())) << 20), recv(comm, 12 << 20);
        Stream stream(comm, kind);
        const Odd odd{comm, stream, send.data(), recv.data()};
        const bool last = world_rank() == world_size() - 1;
        // One call before, so that the wrong one meets a communicator in use. It is over on all ranks before they
        // disagree.
        EXPECT_OK(allreduce(10)(odd));
        stream.synchronize();
        barrier();
        const Breakage breakage = await_breakage(comm, last ? c.different(odd) : c.usual(odd), &stream);
        EXPECT_STREQ("BATON_ERR_MISMATCH", baton_result_name(breakage.code)) << breakage.message;
        EXPECT_LT(breakage.seconds, 10) << "found by the timeout, not by the signature";
        for (const std::string &word : c.words)
            EXPECT_NE(breakage.message.find(word), std::string::npos)
                << "no \"" << word << "\" in: " << breakage.message;
        EXPECT_NE(breakage.message.find("rank"), std::string::npos) << breakage.message;
        EXPECT_NE(breakage.message.find(std::to_string(world_size() - 1)), std::string::npos)
            << "the rank that differs is not named: " << breakage.message;
        expect_stays_broken(comm, BATON_ERR_MISMATCH);
        barrier();
    }
    Communicator fresh;
    expect_works(fresh);
}

TEST_P(Mismatch, DoneOnReturn) { check_case(cases()[GetParam()], Stream::Kind::null); }

TEST_P(Mismatch, OnAStream) { check_case(cases()[GetParam()], Stream::Kind::own); }

INSTANTIATE_TEST_SUITE_P(All, Mismatch, ::testing::Range(std::size_t{0}, cases().size()),
                         [](const auto &param) { return cases()[param.param].name; });

class PairMismatch : public ::testing::Test {
protected:
    void SetUp() override {
        if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    }
};

/// Rank 0 sends, rank 1 receives something else; the other ranks learn of it too.
void check_pair(std::size_t sent, baton_type sent_type, std::size_t received, baton_type received_type,
                const std::vector<std::string> &words) {
    {
        FragileComm comm(10);
        Buffer buffer(comm, 1 << 20);
        Stream stream(comm, Stream::Kind::own);
        baton_result result = BATON_SUCCESS;
        if (world_rank() == 0) result = baton_send(buffer.data(), sent, sent_type, 1, comm, stream);
        if (world_rank() == 1) result = baton_recv(buffer.data(), received, received_type, 0, comm, stream);
        const Breakage breakage = await_breakage(comm, result, &stream);
        EXPECT_STREQ("BATON_ERR_MISMATCH", baton_result_name(breakage.code)) << breakage.message;
        for (const std::string &word : words)
            EXPECT_NE(breakage.message.find(word), std::string::npos)
                << "no \"" << word << "\" in: " << breakage.message;
        barrier();
    }
    Communicator fresh;
    expect_works(fresh);
}

TEST_F(PairMismatch, EagerCount) {
    check_pair(100, BATON_INT32, 101, BATON_INT32, {"rank 0 called send(count 100,", "rank 1 called recv(count 101,"});
}
TEST_F(PairMismatch, LongCount) {
    check_pair(50000, BATON_INT32, 50001, BATON_INT32,
               {"rank 0 called send(count 50000,", "rank 1 called recv(count 50001,"});
}
TEST_F(PairMismatch, EagerAgainstLong) { check_pair(10, BATON_INT32, 50001, BATON_INT32, {"10", "50001"}); }
TEST_F(PairMismatch, LongAgainstEager) { check_pair(50001, BATON_INT32, 10, BATON_INT32, {"50001", "10"}); }
TEST_F(PairMismatch, EagerType) { check_pair(64, BATON_INT32, 64, BATON_FLOAT32, {"int32", "float32"}); }
TEST_F(PairMismatch, LongType) { check_pair(64000, BATON_UINT16, 64000, BATON_FLOAT16, {"uint16", "float16"}); }

/// A rank that waits in a call for a peer to map its memory learns there what another rank has found.
TEST_F(PairMismatch, WhileARankPublishes) {
    if (world_size() < 3) GTEST_SKIP() << "needs a rank to publish, one to err and one to wait for";
    FragileComm comm(20);
    const baton_info info = info_of(comm);
    if (info.on_gpu != 0 && info.peer_access == 0) GTEST_SKIP() << "no peer maps a GPU's memory";
    const pid_t last = process_of(world_size() - 1);
    if (world_rank() == 0) {
        const Stopped stopped(last);
        MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        void *memory = nullptr;
        EXPECT_ERROR(BATON_ERR_MISMATCH, baton_malloc(comm, 1000, &memory), "baton_malloc", "10,", "11,");
        EXPECT_ERROR(BATON_ERR_MISMATCH, baton_comm_check(comm), "10,", "11,");
    }
    if (world_rank() == 1) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        Buffer buffer(comm, 1000);
        Stream stream(comm, Stream::Kind::own);
        EXPECT_OK(baton_group_begin());
        EXPECT_OK(baton_send(buffer.at(0), 10, BATON_INT32, 1, comm, stream));
        EXPECT_OK(baton_recv(buffer.at(100), 11, BATON_INT32, 1, comm, stream));
        const Breakage breakage = await_breakage(comm, baton_group_end(), &stream);
        EXPECT_STREQ("BATON_ERR_MISMATCH", baton_result_name(breakage.code)) << breakage.message;
    }
    barrier();
}

/// The settings must be equal too. Creation says on every rank where the value may come from.
TEST(ConfigMismatch, NamesFieldAndVariable) {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    const std::string last = std::to_string(world_size() - 1);
    baton_config config = default_config();
    config.lines = world_rank() == 0 ? BATON_LINES_OFF : BATON_LINES_AUTO;
    baton_comm_t comm = nullptr;
    EXPECT_ERROR(BATON_ERR_MISMATCH, baton_comm_create(MPI_COMM_WORLD, &config, &comm),
                 "BATON_LINES (config.lines) differs: off on rank 0, auto on rank 1");
    config = default_config();
    if (world_rank() == world_size() - 1) config.copy_engine_limit = SIZE_MAX - 1;  // as a double it equals SIZE_MAX
    EXPECT_ERROR(BATON_ERR_MISMATCH, baton_comm_create(MPI_COMM_WORLD, &config, &comm), "copy_engine_limit", "unset",
                 std::to_string(SIZE_MAX - 1));
    config = default_config();
    config.timeout_seconds = world_rank() == 0 ? 3 : 4;
    EXPECT_ERROR(BATON_ERR_MISMATCH, baton_comm_create(MPI_COMM_WORLD, &config, &comm), "timeout_seconds", "rank 0");
    config = default_config();
    {
        const SetVariable segment("BATON_SEGMENT", std::to_string(world_rank()) == last ? "16K" : "1M");
        EXPECT_ERROR(BATON_ERR_MISMATCH, baton_comm_create(MPI_COMM_WORLD, &config, &comm),
                     "BATON_SEGMENT (config.segment_bytes) differs: 1048576 on rank 0, 16384 on rank " + last);
    }
    Communicator fresh;
    expect_works(fresh);
}

TEST(WindowMismatch, SizesMustBeEqual) {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    FragileComm comm(10);
    baton_window_t window = nullptr;
    void *base = nullptr;
    const std::size_t bytes = world_rank() == world_size() - 1 ? 1001 : 1000;
    EXPECT_ERROR(BATON_ERR_MISMATCH, baton_window_create(comm, bytes, &window, &base), "1000", "1001");
    barrier();
}

TEST(WindowMismatch, DestroyedInDifferentOrder) {
    if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
    {
        FragileComm comm(10);
        baton_window_t first = nullptr, second = nullptr;
        void *base = nullptr;
        ASSERT_OK(baton_window_create(comm, 1000, &first, &base));
        ASSERT_OK(baton_window_create(comm, 2000, &second, &base));
        const bool last = world_rank() == world_size() - 1;
        EXPECT_ERROR(BATON_ERR_MISMATCH, baton_window_destroy(last ? second : first),
                     "baton_window_destroy got window 0 (1000 bytes) on rank 0, window 1 (2000 bytes) on rank " +
                         std::to_string(world_size() - 1));
        expect_stays_broken(comm, BATON_ERR_MISMATCH);
        EXPECT_OK(baton_window_destroy(last ? first : second));
        barrier();
    }
    Communicator fresh;
    expect_works(fresh);
}

}  // namespace
}  // namespace baton::test
