// The caller's mistakes in collectives and point-to-point calls: each gives BATON_ERR_ARGUMENT and a message with the
// argument's name and value, starts nothing, and leaves a communicator that works.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <string_view>

#include "support/fixture.hpp"

namespace baton::test {
namespace {

constexpr std::size_t count = 64;

class BadArguments : public CommTest {
protected:
    void SetUp() override {
        CommTest::SetUp();
        send_ = std::make_unique<Buffer>(comm(), count * 8 * static_cast<std::size_t>(size()) * 2);
        recv_ = std::make_unique<Buffer>(comm(), count * 8 * static_cast<std::size_t>(size()) * 2);
        stream_ = std::make_unique<Stream>(comm(), Stream::Kind::own);
    }
    /// Every test ends by showing that nothing has happened to the communicator.
    void TearDown() override {
        stream_->synchronize();
        expect_works(comm());
        EXPECT_TRUE(same_bytes(Bytes(recv_->size(), std::byte{0xDB}), recv_->download())) << "something was started";
        stream_.reset();
        recv_.reset();
        send_.reset();
        CommTest::TearDown();
    }
    const void *send() const { return send_->data(); }
    void *recv() const { return recv_->data(); }
    baton_stream_t stream() const { return *stream_; }

    std::unique_ptr<Buffer> send_, recv_;
    std::unique_ptr<Stream> stream_;
};

#define EXPECT_REFUSED(call, ...) EXPECT_ERROR(BATON_ERR_ARGUMENT, call, __VA_ARGS__)

TEST_F(BadArguments, NullBuffers) {
    EXPECT_REFUSED(baton_allgather(nullptr, recv(), count, BATON_INT32, comm(), stream()), "sendbuf", "allgather");
    EXPECT_REFUSED(baton_allgather(send(), nullptr, count, BATON_INT32, comm(), stream()), "recvbuf");
    EXPECT_REFUSED(baton_alltoall(nullptr, recv(), count, BATON_INT32, comm(), stream()), "sendbuf", "alltoall");
    EXPECT_REFUSED(baton_alltoall(send(), nullptr, count, BATON_INT32, comm(), stream()), "recvbuf");
    EXPECT_REFUSED(baton_broadcast(nullptr, recv(), count, BATON_INT32, rank(), comm(), stream()), "sendbuf",
                   "broadcast");
    EXPECT_REFUSED(baton_broadcast(send(), nullptr, count, BATON_INT32, 0, comm(), stream()), "recvbuf");
    EXPECT_REFUSED(baton_reduce_scatter(nullptr, recv(), count, BATON_INT32, BATON_SUM, comm(), stream()), "sendbuf");
    EXPECT_REFUSED(baton_reduce_scatter(send(), nullptr, count, BATON_INT32, BATON_SUM, comm(), stream()), "recvbuf");
    EXPECT_REFUSED(baton_allreduce(nullptr, recv(), count, BATON_INT32, BATON_SUM, comm(), stream()), "sendbuf");
    EXPECT_REFUSED(baton_allreduce(send(), nullptr, count, BATON_INT32, BATON_SUM, comm(), stream()), "recvbuf");
    EXPECT_REFUSED(baton_allreduce(BATON_IN_PLACE, nullptr, count, BATON_INT32, BATON_SUM, comm(), stream()),
                   "recvbuf");
    EXPECT_REFUSED(baton_send(nullptr, count, BATON_INT32, 0, comm(), stream()), "buffer", "send");
    EXPECT_REFUSED(baton_recv(nullptr, count, BATON_INT32, 0, comm(), stream()), "buffer", "recv");
    EXPECT_REFUSED(baton_sendrecv(nullptr, 1, 0, recv(), 1, 0, BATON_INT32, comm(), stream()), "sendbuf");
    EXPECT_REFUSED(baton_sendrecv(send(), 1, 0, nullptr, 1, 0, BATON_INT32, comm(), stream()), "recvbuf");
}

TEST_F(BadArguments, UnknownTypes) {
    for (int value : {static_cast<int>(BATON_TYPE_COUNT), 15}) {
        const baton_type type = static_cast<baton_type>(value);
        const std::string shown = std::to_string(value);
        EXPECT_REFUSED(baton_allgather(send(), recv(), count, type, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_alltoall(send(), recv(), count, type, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_broadcast(send(), recv(), count, type, 0, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_reduce_scatter(send(), recv(), count, type, BATON_SUM, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_allreduce(send(), recv(), count, type, BATON_SUM, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_send(send(), count, type, 0, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_recv(recv(), count, type, 0, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_sendrecv(send(), 1, 0, recv(), 1, 0, type, comm(), stream()), "type", shown);
        EXPECT_REFUSED(baton_allreduce(nullptr, nullptr, 0, type, BATON_SUM, comm(), stream()), "type", shown);
    }
}

TEST_F(BadArguments, UnknownAndUndefinedOperations) {
    for (int value : {static_cast<int>(BATON_OP_COUNT), 7}) {
        const baton_op op = static_cast<baton_op>(value);
        EXPECT_REFUSED(baton_allreduce(send(), recv(), count, BATON_INT32, op, comm(), stream()), "op",
                       std::to_string(value));
        EXPECT_REFUSED(baton_reduce_scatter(send(), recv(), count, BATON_INT32, op, comm(), stream()), "op",
                       std::to_string(value));
    }
    for (baton_type type : all_types) {
        if (!is_integer(type)) continue;
        EXPECT_REFUSED(baton_allreduce(send(), recv(), count, type, BATON_AVG, comm(), stream()), "op", "avg",
                       baton_type_name(type));
        EXPECT_REFUSED(baton_reduce_scatter(send(), recv(), count, type, BATON_AVG, comm(), stream()), "avg",
                       baton_type_name(type));
    }
}

TEST_F(BadArguments, CountsThatOverflow) {
    const std::size_t huge = std::numeric_limits<std::size_t>::max() / 4;
    const std::string shown = std::to_string(huge);
    EXPECT_REFUSED(baton_allgather(send(), recv(), huge, BATON_FLOAT64, comm(), stream()), "count", shown);
    EXPECT_REFUSED(baton_alltoall(send(), recv(), huge, BATON_FLOAT64, comm(), stream()), "count", shown);
    EXPECT_REFUSED(baton_broadcast(send(), recv(), huge, BATON_FLOAT64, 0, comm(), stream()), "count", shown);
    EXPECT_REFUSED(baton_reduce_scatter(send(), recv(), huge, BATON_FLOAT64, BATON_SUM, comm(), stream()), "count",
                   shown);
    EXPECT_REFUSED(baton_allreduce(send(), recv(), huge, BATON_FLOAT64, BATON_SUM, comm(), stream()), "count", shown);
    EXPECT_REFUSED(baton_send(send(), huge, BATON_FLOAT64, 0, comm(), stream()), "count", shown);
    EXPECT_REFUSED(baton_recv(recv(), huge, BATON_FLOAT64, 0, comm(), stream()), "count", shown);
    EXPECT_REFUSED(baton_sendrecv(send(), huge, 0, recv(), 1, 0, BATON_FLOAT64, comm(), stream()), "sendcount", shown);
    EXPECT_REFUSED(baton_sendrecv(send(), 1, 0, recv(), huge, 0, BATON_FLOAT64, comm(), stream()), "recvcount", shown);
    // One block fits into the address space, but not all ranks' blocks together.
    if (size() < 2) return;
    const std::size_t block = std::numeric_limits<std::size_t>::max() / static_cast<std::size_t>(size()) + 1;
    EXPECT_REFUSED(baton_allgather(send(), recv(), block, BATON_INT8, comm(), stream()), "count",
                   std::to_string(block));
    EXPECT_REFUSED(baton_alltoall(send(), recv(), block, BATON_INT8, comm(), stream()), "count", std::to_string(block));
}

TEST_F(BadArguments, PeersOutOfRange) {
    for (int peer : {-1, size(), size() + 100, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
        const std::string shown = std::to_string(peer);
        EXPECT_REFUSED(baton_send(send(), count, BATON_INT32, peer, comm(), stream()), "peer", shown);
        EXPECT_REFUSED(baton_recv(recv(), count, BATON_INT32, peer, comm(), stream()), "peer", shown);
        EXPECT_REFUSED(baton_sendrecv(send(), 1, peer, recv(), 1, 0, BATON_INT32, comm(), stream()), "dest", shown);
        EXPECT_REFUSED(baton_sendrecv(send(), 1, 0, recv(), 1, peer, BATON_INT32, comm(), stream()), "source", shown);
        EXPECT_REFUSED(baton_broadcast(send(), recv(), count, BATON_INT32, peer, comm(), stream()), "root", shown);
    }
}

TEST_F(BadArguments, OverlapThatIsNotInPlace) {
    EXPECT_REFUSED(baton_allreduce(recv_->at(4), recv(), count, BATON_INT32, BATON_SUM, comm(), stream()), "sendbuf",
                   "overlap");
    EXPECT_REFUSED(baton_allreduce(recv(), recv_->at(4), count, BATON_INT32, BATON_SUM, comm(), stream()), "overlap");
    EXPECT_REFUSED(baton_broadcast(recv_->at(4), recv(), count, BATON_INT32, rank(), comm(), stream()), "overlap");
    EXPECT_REFUSED(baton_alltoall(recv_->at(4), recv(), count, BATON_INT32, comm(), stream()), "sendbuf", "overlap");
    EXPECT_REFUSED(baton_alltoall(recv(), recv_->at(count * 4 * static_cast<std::size_t>(size()) - 4), count,
                                  BATON_INT32, comm(), stream()),
                   "overlap");
    const std::size_t own = static_cast<std::size_t>(rank()) * count * 4;
    EXPECT_REFUSED(baton_allgather(recv_->at(own + 4), recv(), count, BATON_INT32, comm(), stream()), "overlap");
    EXPECT_REFUSED(baton_reduce_scatter(recv(), recv_->at(own + 4), count, BATON_INT32, BATON_SUM, comm(), stream()),
                   "overlap");
    for (const std::size_t byte : {std::size_t{0}, std::size_t{4}, count * 4 - 4}) {
        EXPECT_REFUSED(
            baton_sendrecv(recv_->at(byte), count, rank(), recv(), count, rank(), BATON_INT32, comm(), stream()),
            "sendrecv", "sendbuf", "overlap");
        EXPECT_REFUSED(
            baton_sendrecv(recv(), count, rank(), recv_->at(byte), count, rank(), BATON_INT32, comm(), stream()),
            "overlap");
    }
    EXPECT_OK(baton_sendrecv(send(), 1, rank(), send_->at(4), 1, rank(), BATON_INT32, comm(), stream()))
        << "side by side";
    EXPECT_OK(baton_sendrecv(send(), 0, rank(), send_->at(0), 0, rank(), BATON_INT32, comm(), stream())) << "nothing";
    if (size() < 2) return;
    const std::size_t other = static_cast<std::size_t>((rank() + 1) % size()) * count * 4;
    EXPECT_REFUSED(baton_allgather(recv_->at(other), recv(), count, BATON_INT32, comm(), stream()), "overlap");
    EXPECT_REFUSED(baton_reduce_scatter(recv(), recv_->at(other), count, BATON_INT32, BATON_SUM, comm(), stream()),
                   "overlap");
}

TEST_F(BadArguments, InPlaceWhereItMeansNothing) {
    void *marker = const_cast<void *>(BATON_IN_PLACE);
    EXPECT_REFUSED(baton_allreduce(send(), marker, count, BATON_INT32, BATON_SUM, comm(), stream()), "recvbuf",
                   "IN_PLACE");
    EXPECT_REFUSED(baton_allgather(BATON_IN_PLACE, marker, count, BATON_INT32, comm(), stream()), "recvbuf",
                   "IN_PLACE");
    EXPECT_REFUSED(baton_alltoall(BATON_IN_PLACE, marker, count, BATON_INT32, comm(), stream()), "recvbuf", "IN_PLACE");
    EXPECT_REFUSED(baton_broadcast(send(), marker, count, BATON_INT32, 0, comm(), stream()), "recvbuf", "IN_PLACE");
    EXPECT_REFUSED(baton_send(BATON_IN_PLACE, count, BATON_INT32, 0, comm(), stream()), "buffer");
    EXPECT_REFUSED(baton_recv(marker, count, BATON_INT32, 0, comm(), stream()), "buffer");
    EXPECT_OK(baton_allreduce(send(), marker, 0, BATON_INT32, BATON_SUM, comm(), stream())) << "any pointer will do";
    EXPECT_OK(baton_alltoall(BATON_IN_PLACE, marker, 0, BATON_INT32, comm(), stream()));
    EXPECT_OK(baton_broadcast(marker, marker, 0, BATON_INT32, 0, comm(), stream()));
}

/// Alone, either half would wait for the other for ever.
TEST_F(BadArguments, LongMessagesToOneself) {
    const std::size_t bytes = BATON_EAGER_BYTES + 1;
    Buffer buffer(comm(), bytes);
    const std::string shown = std::to_string(bytes);
    EXPECT_REFUSED(baton_send(buffer.data(), bytes, BATON_UINT8, rank(), comm(), stream()), "peer", shown, "group");
    EXPECT_REFUSED(baton_recv(buffer.data(), bytes, BATON_UINT8, rank(), comm(), stream()), "peer", shown, "group");
}

/// The call's recv would meet its own send. Between two ranks each message has its own count.
TEST_F(BadArguments, TwoCountsToOneself) {
    Buffer out(comm(), 32000), in(comm(), 32000);
    const auto exchange = [&](std::size_t sent, int dest, std::size_t received, int source) {
        return baton_sendrecv(out.data(), sent, dest, in.data(), received, source, BATON_INT32, comm(), stream());
    };
    for (const auto &[sent, received] : {std::pair{10, 11}, std::pair{11, 10}, std::pair{0, 1}, std::pair{8000, 1}}) {
        EXPECT_REFUSED(exchange(sent, rank(), received, rank()), "sendcount is " + std::to_string(sent),
                       "recvcount is " + std::to_string(received), "dest and source are this rank");
        ASSERT_OK(baton_group_begin());
        EXPECT_REFUSED(exchange(sent, rank(), received, rank()), "sendcount");
        EXPECT_OK(baton_group_end());
    }
    const int next = (rank() + 1) % size(), previous = (rank() + size() - 1) % size();
    const auto count_of = [&](int of) { return size() > 1 ? static_cast<std::size_t>(of) + 1 : 1; };
    EXPECT_OK(exchange(count_of(rank()), next, count_of(previous), previous));
    stream_->synchronize();  // before the buffers go
}

TEST_F(BadArguments, RangesThatLeaveTheirAllocation) {
    void *memory = nullptr;
    ASSERT_OK(baton_malloc(comm(), 1000, &memory));
    const std::size_t far = 16 << 20;
    EXPECT_REFUSED(baton_allreduce(BATON_IN_PLACE, memory, far, BATON_INT32, BATON_SUM, comm(), stream()), "recvbuf");
    EXPECT_REFUSED(baton_send(memory, far, BATON_INT32, 0, comm(), stream()), "buffer");
    EXPECT_REFUSED(baton_register(comm(), memory, far), "bytes");
    if (size() > 1) {  // the larger of two buffers has a block for each rank
        EXPECT_REFUSED(baton_allgather(send(), memory, 1000, BATON_INT8, comm(), stream()), "recvbuf", "1000 bytes");
        EXPECT_REFUSED(baton_alltoall(memory, recv(), 1000, BATON_INT8, comm(), stream()), "sendbuf", "1000 bytes");
        EXPECT_REFUSED(baton_reduce_scatter(memory, recv(), 1000, BATON_INT8, BATON_SUM, comm(), stream()), "sendbuf",
                       "1000 bytes");
    }
    const auto at = [&](std::size_t byte) { return static_cast<std::byte *>(memory) + byte; };
    const std::pair<std::size_t, std::size_t> ranges[] = {{0, 1001}, {0, 1200}, {1, 1000},
                                                          {999, 2},  {1000, 1}, {1500, 1}};
    for (const auto &[from, bytes] : ranges) {
        const std::string by = "by " + std::to_string(from + bytes - 1000) + " bytes";
        EXPECT_REFUSED(baton_broadcast(at(from), recv(), bytes, BATON_INT8, rank(), comm(), stream()), "sendbuf",
                       "1000 bytes", by);
        EXPECT_REFUSED(baton_recv(at(from), bytes, BATON_INT8, 0, comm(), stream()), "buffer", "1000 bytes", by);
        EXPECT_REFUSED(baton_register(comm(), at(from), bytes), "pointer", "1000 bytes", by);
    }
    EXPECT_OK(baton_allreduce(BATON_IN_PLACE, at(0), 1000, BATON_INT8, BATON_SUM, comm(), stream()));
    EXPECT_OK(baton_allreduce(BATON_IN_PLACE, at(999), 1, BATON_INT8, BATON_SUM, comm(), stream()));
    stream_->synchronize();
    ASSERT_OK(baton_free(comm(), memory));
    if (!on_gpu()) return;
    EXPECT_REFUSED(baton_allreduce(send(), recv(), std::size_t{1} << 36, BATON_INT8, BATON_SUM, comm(), stream()),
                   "sendbuf");
    EXPECT_REFUSED(baton_send(memory, 10, BATON_INT32, 0, comm(), stream()), "buffer");  // freed
}

TEST_F(BadArguments, RangesThatRunIntoAnAllocation) {
    if (on_gpu()) GTEST_SKIP() << "every range begins in an allocation there";
    constexpr std::size_t page = 4096, bytes = 4 * page;
    std::vector<void *> allocations;
    std::byte *before = nullptr;
    while (before == nullptr && allocations.size() < 20) {  // until nothing lies below one
        ASSERT_OK(baton_malloc(comm(), bytes, &allocations.emplace_back()));
        void *const wanted = static_cast<std::byte *>(allocations.back()) - page;
        void *const got =
            mmap(wanted, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == wanted)
            before = static_cast<std::byte *>(got);
        else if (got != MAP_FAILED)
            munmap(got, page);
    }
    ASSERT_NE(before, nullptr) << "no place below memory of baton_malloc";
    for (const std::size_t end : {page + 1, page + bytes})
        EXPECT_REFUSED(baton_send(before + 8, end - 8, BATON_INT8, 0, comm(), stream()), "buffer", "runs into");
    EXPECT_OK(baton_sendrecv(before, page, rank(), allocations.back(), page, rank(), BATON_INT8, comm(), stream()))
        << "up to it";
    stream_->synchronize();
    for (void *allocation : allocations) EXPECT_OK(baton_free(comm(), allocation));
    munmap(before, page);
}

/// Found only when data have begun to move, if anything finds it. All ranks learn the code, and that the communicator
/// is broken.
TEST_F(BadArguments, AHoleInTheMiddleOfABuffer) {
    if (on_gpu() || size() < 2) GTEST_SKIP() << "nobody copies it";
    const Communicator fresh;
    if (info_of(fresh).single_copy == 0) GTEST_SKIP() << "the sender itself would meet it, and end";
    constexpr std::size_t bytes = 1 << 20, page = 4096;
    void *const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    char plan[1000];
    ASSERT_OK(baton_explain(fresh, BATON_SEND, bytes, BATON_INT8, BATON_SUM, memory, memory, plan, sizeof(plan)));
    if (std::string_view(plan).substr(0, 4) != "pull") GTEST_SKIP() << "the sender itself would meet it: " << plan;
    if (rank() < 2) {
        if (rank() == 0) {
            EXPECT_EQ(munmap(static_cast<std::byte *>(memory) + bytes / 2, page), 0);
        }
        const baton_result result = rank() == 0 ? baton_send(memory, bytes, BATON_INT8, 1, fresh, nullptr)
                                                : baton_recv(memory, bytes, BATON_INT8, 0, fresh, nullptr);
        EXPECT_STREQ(baton_result_name(result), "BATON_ERR_SYSTEM") << baton_last_error();
    } else {
        EXPECT_ERROR(BATON_ERR_SYSTEM, baton_barrier(fresh, nullptr));
    }
    EXPECT_ERROR(BATON_ERR_SYSTEM, baton_comm_check(fresh));
    EXPECT_ERROR(BATON_ERR_SYSTEM, baton_barrier(fresh, nullptr));
    munmap(memory, bytes);
}

TEST_F(BadArguments, MemoryOfTheWrongKind) {
    if (!on_gpu()) GTEST_SKIP() << "every pointer is a host pointer here; gpu_memory has the reverse";
    std::vector<int> host(count * static_cast<std::size_t>(size()));
    EXPECT_REFUSED(baton_allreduce(host.data(), recv(), count, BATON_INT32, BATON_SUM, comm(), stream()), "sendbuf",
                   "host");
    EXPECT_REFUSED(baton_allreduce(send(), host.data(), count, BATON_INT32, BATON_SUM, comm(), stream()), "recvbuf",
                   "host");
    EXPECT_REFUSED(baton_send(host.data(), count, BATON_INT32, 0, comm(), stream()), "buffer", "host");
}

TEST_F(BadArguments, NoCommunicator) {
    EXPECT_REFUSED(baton_allgather(send(), recv(), count, BATON_INT32, nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_reduce_scatter(send(), recv(), count, BATON_INT32, BATON_SUM, nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_allreduce(send(), recv(), count, BATON_INT32, BATON_SUM, nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_alltoall(send(), recv(), count, BATON_INT32, nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_broadcast(send(), recv(), count, BATON_INT32, 0, nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_barrier(nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_send(send(), count, BATON_INT32, 0, nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_recv(recv(), count, BATON_INT32, 0, nullptr, stream()), "comm");
    EXPECT_REFUSED(baton_comm_check(nullptr), "comm");
    EXPECT_REFUSED(baton_comm_abort(nullptr), "comm");
    EXPECT_REFUSED(baton_comm_destroy(nullptr), "comm");
    alignas(64) char no_communicator[4096] = {};
    baton_comm_t wrong = reinterpret_cast<baton_comm_t>(no_communicator);
    EXPECT_REFUSED(baton_barrier(wrong, stream()), "comm");
    EXPECT_REFUSED(baton_comm_destroy(wrong), "comm");
}

TEST_F(BadArguments, AfterDestroy) {
    baton_comm_t other = nullptr;
    ASSERT_OK(baton_comm_create(MPI_COMM_WORLD, nullptr, &other));
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(other, 100, &window, &base));
    ASSERT_OK(baton_comm_destroy(other));
    EXPECT_REFUSED(baton_allreduce(send(), recv(), count, BATON_INT32, BATON_SUM, other, stream()), "comm", "destroy");
    EXPECT_REFUSED(baton_barrier(other, stream()), "comm");
    EXPECT_REFUSED(baton_comm_check(other), "comm");
    EXPECT_REFUSED(baton_comm_abort(other), "comm");
    EXPECT_REFUSED(baton_comm_destroy(other), "comm");
    EXPECT_REFUSED(baton_signal(0, window, stream()), "window");
    EXPECT_REFUSED(baton_window_destroy(window), "window");
}

TEST_F(BadArguments, InsideAGroup) {
    ASSERT_OK(baton_group_begin());
    EXPECT_REFUSED(baton_send(send(), count, BATON_INT32, size(), comm(), stream()), "peer");
    EXPECT_REFUSED(baton_recv(nullptr, count, BATON_INT32, 0, comm(), stream()), "buffer");
    const std::string most = std::to_string(BATON_GROUP_LIMIT);
    void *own = const_cast<void *>(send());
    const auto recv_one = [&](std::size_t nth) {
        return baton_recv(send_->at(4 * nth), 1, BATON_INT32, rank(), comm(), stream());
    };
    for (std::size_t i = 1; i < BATON_GROUP_LIMIT / 2; ++i) {
        EXPECT_OK(baton_send(own, 1, BATON_INT32, rank(), comm(), stream()));
        EXPECT_OK(recv_one(i));
    }
    EXPECT_OK(baton_send(own, 1, BATON_INT32, rank(), comm(), stream()));
    EXPECT_REFUSED(baton_sendrecv(own, 1, rank(), recv(), 1, rank(), BATON_INT32, comm(), stream()), most);
    EXPECT_OK(recv_one(BATON_GROUP_LIMIT / 2)) << "half a sendrecv was collected";
    EXPECT_REFUSED(baton_send(own, 1, BATON_INT32, rank(), comm(), stream()), most);
    EXPECT_REFUSED(baton_recv(recv(), 1, BATON_INT32, rank(), comm(), stream()), most);
    EXPECT_OK(baton_group_end());  // without the refused ones
    EXPECT_REFUSED(baton_group_end(), "group");
}

/// At the group's end such a call would be refused behind one that is under way.
TEST_F(BadArguments, TooManySegmentsInsideAGroup) {
    if (on_gpu() || size() < 2) GTEST_SKIP() << "no memory for them, or no segments";
    baton_config config = default_config();
    config.p2p = BATON_P2P_OFF;
    config.segment_bytes = 4096;
    const Communicator staged(MPI_COMM_WORLD, &config);
    constexpr std::size_t bytes = std::size_t{1} << 36;  // for the broadcast
    // The thread sanitizer leaves no room for twice as much.
    constexpr std::size_t message = std::size_t{1} << 39;
    void *const memory =
        mmap(nullptr, message, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    int before = rank(), after = -1;
    ASSERT_OK(baton_group_begin());
    EXPECT_OK(baton_allreduce(&before, &after, 1, BATON_INT32, BATON_SUM, staged, nullptr));
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_broadcast(memory, memory, bytes, BATON_INT8, 0, staged, nullptr),
                 "broadcast", "BATON_SEGMENT");
    const int next = (rank() + 1) % size();
    EXPECT_ERROR(BATON_ERR_UNSUPPORTED, baton_send(memory, message, BATON_INT8, next, staged, nullptr), "baton_send",
                 "several");
    EXPECT_OK(baton_group_end());  // without the refused one
    EXPECT_EQ(after, size() * (size() - 1) / 2);
    expect_works(staged);
    EXPECT_EQ(munmap(memory, message), 0);
}

/// The k-th send meets the k-th recv. Those of two streams would be issued in another order than they were called.
TEST_F(BadArguments, MessagesOfAPeerOnTwoStreamsOfAGroup) {
    Stream other(comm(), Stream::Kind::own);
    const int next = (rank() + 1) % size(), previous = (rank() + size() - 1) % size();
    ASSERT_OK(baton_group_begin());
    EXPECT_OK(baton_send(send(), 1, BATON_INT32, next, comm(), stream()));
    EXPECT_OK(baton_recv(recv(), 1, BATON_INT32, previous, comm(), stream()));
    EXPECT_REFUSED(baton_send(send(), 1, BATON_INT32, next, comm(), other), "stream", "sends to rank");
    EXPECT_REFUSED(baton_recv(recv(), 1, BATON_INT32, previous, comm(), other), "stream", "recvs from rank");
    EXPECT_REFUSED(baton_sendrecv(send(), 1, next, recv(), 1, previous, BATON_INT32, comm(), other), "stream");
    EXPECT_OK(baton_group_end());
}

TEST_F(BadArguments, SendsAndRecvsOfAGroupThatOverlap) {
    const std::size_t part = count / 4;
    const auto send_from = [&](std::size_t at) {
        return baton_send(recv_->at(at), part, BATON_INT32, rank(), comm(), stream());
    };
    const auto recv_to = [&](std::size_t at) {
        return baton_recv(recv_->at(at), part, BATON_INT32, rank(), comm(), stream());
    };
    const std::size_t bytes = part * sizeof(std::int32_t);
    ASSERT_OK(baton_group_begin());
    ASSERT_OK(send_from(0));
    ASSERT_OK(recv_to(bytes - 4));
    EXPECT_REFUSED(baton_group_end(), "baton_recv", "baton_send", "overlap");
    ASSERT_OK(baton_group_begin());
    ASSERT_OK(recv_to(0));
    ASSERT_OK(send_from(bytes));
    ASSERT_OK(recv_to(2 * bytes));
    ASSERT_OK(send_from(2 * bytes - 4));
    EXPECT_REFUSED(baton_group_end(), "baton_recv", "baton_send", "overlap");
    // Bandwidth tests receive all into one place.
    ASSERT_OK(baton_group_begin());
    ASSERT_OK(send_from(2 * bytes));
    ASSERT_OK(send_from(2 * bytes + 4));
    ASSERT_OK(recv_to(0));
    ASSERT_OK(recv_to(0));
    EXPECT_OK(baton_group_end());
}

/// A child that inherits the communicator by fork must not touch the parent's memory.
TEST_F(BadArguments, FromAForkedChild) {
    int channel[2];
    ASSERT_EQ(pipe(channel), 0);
    barrier();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const baton_result first = baton_allreduce(send(), recv(), count, BATON_INT32, BATON_SUM, comm(), nullptr);
        const std::string text = std::string(baton_result_name(first)) + '\n' + baton_last_error() + '\n' +
                                 baton_result_name(baton_barrier(comm(), nullptr)) + '\n' +
                                 baton_result_name(baton_comm_destroy(comm())) + '\n';
        const ssize_t written = write(channel[1], text.data(), text.size());
        _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(channel[1]);
    std::string text;
    char part[512];
    for (ssize_t got; (got = read(channel[0], part, sizeof(part))) > 0;)
        text.append(part, static_cast<std::size_t>(got));
    close(channel[0]);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text.find("BATON_ERR_ARGUMENT\n"), 0u) << text;
    EXPECT_NE(text.find("fork"), std::string::npos) << "the message does not say why: " << text;
    EXPECT_NE(text.find("\nBATON_ERR_ARGUMENT\nBATON_ERR_ARGUMENT\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace baton::test
