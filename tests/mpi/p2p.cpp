// send, recv, sendrecv and groups: any size, any matched order, several messages per pair.
#include <algorithm>
#include <filesystem>

#include "support/fixture.hpp"

namespace baton::test {
namespace {

/// The content of message `index` from `source` to `target`.
Bytes message(int source, int target, int index, std::size_t bytes) {
    const std::uint64_t seed =
        mix(environment().seed + static_cast<std::uint64_t>(target) * 4096 + static_cast<std::uint64_t>(index));
    return make_input(BATON_UINT8, BATON_SUM, seed, source, bytes);
}

constexpr std::size_t eager = BATON_EAGER_BYTES;
const std::size_t sizes[] = {0,         1,     3,     15,    16,     17,      1009,    eager - 1,   eager,
                             eager + 1, 65536, 65544, 99960, 262147, 1048568, 1048576, 1048576 + 5, 3 * 1048576 + 1};

/// A message in flight on this rank: its buffer and, on the receiving side, what must arrive.
struct Transfer {
    Transfer(baton_comm_t comm, Bytes content, bool receiving)
        : expected(std::move(content)), buffer(comm, expected.size()), receives(receiving) {
        if (!receiving) buffer.upload(expected);
    }
    void verify(const std::string &what) const {
        EXPECT_TRUE(same_bytes(expected, buffer.download())) << what;
        EXPECT_TRUE(buffer.guards_intact()) << what;
    }
    Bytes expected;
    Buffer buffer;
    bool receives;
};

class PointToPoint : public RingTest {
protected:
    baton_result send(const Buffer &buffer, int peer) {
        return baton_send(buffer.data(), buffer.size(), BATON_UINT8, peer, comm(), *stream_);
    }
    baton_result recv(const Buffer &buffer, int peer) {
        return baton_recv(buffer.data(), buffer.size(), BATON_UINT8, peer, comm(), *stream_);
    }
};

TEST_F(PointToPoint, RingBySendrecv) {
    for (std::size_t bytes : sizes) {
        Transfer out(comm(), message(rank(), next_, 0, bytes), false);
        Transfer in(comm(), message(previous_, rank(), 0, bytes), true);
        ASSERT_OK(baton_sendrecv(out.buffer.data(), bytes, next_, in.buffer.data(), bytes, previous_, BATON_UINT8,
                                 comm(), *stream_));
        stream_->synchronize();
        in.verify("ring of " + std::to_string(bytes));
        out.verify("the sent buffer");
    }
}

TEST_F(PointToPoint, SendrecvWithDifferentSizesEachWay) {
    for (std::size_t bytes : {std::size_t{0}, std::size_t{100}, eager, std::size_t{200000}}) {
        const auto size_from = [bytes](int source) { return bytes * static_cast<std::size_t>(source % 3 + 1); };
        Transfer out(comm(), message(rank(), next_, 1, size_from(rank())), false);
        Transfer in(comm(), message(previous_, rank(), 1, size_from(previous_)), true);
        ASSERT_OK(baton_sendrecv(out.buffer.data(), out.buffer.size(), next_, in.buffer.data(), in.buffer.size(),
                                 previous_, BATON_UINT8, comm(), *stream_));
        stream_->synchronize();
        in.verify("different sizes");
    }
}

/// Even ranks send first, odd ones receive first: plain blocking order, long messages included.
TEST_F(PointToPoint, AllPairsOneByOne) {
    for (std::size_t bytes : {std::size_t{8}, eager + 100, std::size_t{300001}})
        for (int a = 0; a < size(); ++a)
            for (int b = 0; b < size(); ++b) {
                if (a == b || (rank() != a && rank() != b)) continue;
                Transfer transfer(comm(), message(a, b, 2, bytes), rank() == b);
                ASSERT_OK(rank() == a ? send(transfer.buffer, b) : recv(transfer.buffer, a));
                stream_->synchronize();
                transfer.verify("pair " + std::to_string(a) + " to " + std::to_string(b));
            }
}

/// The documented queue depth: so many eager sends complete although nobody has posted a receive.
TEST_F(PointToPoint, QueueDepthOfUnmatchedSends) {
    if (size() < 2) GTEST_SKIP() << "needs two ranks";
    for (std::size_t bytes : {std::size_t{1}, std::size_t{1000}, eager}) {
        std::vector<std::unique_ptr<Transfer>> out, in;
        for (int i = 0; i < BATON_QUEUE_DEPTH; ++i) {
            out.push_back(std::make_unique<Transfer>(comm(), message(rank(), next_, i, bytes), false));
            ASSERT_OK(send(out.back()->buffer, next_));
        }
        stream_->synchronize();  // would wait for ever if the sends waited for their receives
        for (auto &transfer : out) transfer->buffer.poison();
        barrier();
        for (int i = 0; i < BATON_QUEUE_DEPTH; ++i) {
            in.push_back(std::make_unique<Transfer>(comm(), message(previous_, rank(), i, bytes), true));
            ASSERT_OK(recv(in.back()->buffer, previous_));
        }
        stream_->synchronize();
        for (int i = 0; i < BATON_QUEUE_DEPTH; ++i) in[i]->verify("message " + std::to_string(i) + " of the queue");
    }
}

/// Messages of all kinds in turns, more than a pair's slots and line buffers, one by one and in one group. Any number
/// of other messages may come before the next one in a buffer, and messages leave in any order.
TEST_F(PointToPoint, KindsMixed) {
    const std::size_t kinds[] = {eager, 30001, 100, 600000, 0, 90000, 1000, 1048576, 1500000, 70000, eager + 8};
    for (const bool grouped : {false, true}) {
        std::vector<std::unique_ptr<Transfer>> transfers;
        if (grouped) {
            ASSERT_OK(baton_group_begin());
        }
        for (int i = 0; i < 3 * static_cast<int>(std::size(kinds)); ++i) {
            const std::size_t bytes = kinds[static_cast<std::size_t>(i * 7) % std::size(kinds)];
            transfers.push_back(std::make_unique<Transfer>(comm(), message(rank(), next_, i, bytes), false));
            const Transfer &out = *transfers.back();
            transfers.push_back(std::make_unique<Transfer>(comm(), message(previous_, rank(), i, bytes), true));
            const Transfer &in = *transfers.back();
            if (grouped) {
                EXPECT_OK(send(out.buffer, next_));
                EXPECT_OK(recv(in.buffer, previous_));
            } else {
                ASSERT_OK(baton_sendrecv(out.buffer.data(), bytes, next_, in.buffer.data(), bytes, previous_,
                                         BATON_UINT8, comm(), *stream_));
            }
        }
        if (grouped) {
            ASSERT_OK(baton_group_end());
        }
        stream_->synchronize();
        for (std::size_t i = 0; i < transfers.size(); ++i) transfers[i]->verify("message " + std::to_string(i / 2));
    }
}

/// Hundreds of messages from rank 0 to the last, short and long mixed, arrive in the order of sending.
TEST_F(PointToPoint, OrderOfOnePair) {
    if (size() < 2) GTEST_SKIP() << "needs two ranks";
    Random random(environment().seed);
    std::vector<std::unique_ptr<Transfer>> transfers;
    const int last = size() - 1;
    for (int i = 0; i < 150; ++i) {
        const std::size_t bytes = random.chance(20) ? eager + random.below(60000) : random.below(eager + 1);
        if (rank() != 0 && rank() != last) continue;
        transfers.push_back(std::make_unique<Transfer>(comm(), message(0, last, i, bytes), rank() == last));
        ASSERT_OK(rank() == 0 ? send(transfers.back()->buffer, last) : recv(transfers.back()->buffer, 0));
    }
    stream_->synchronize();
    for (std::size_t i = 0; i < transfers.size(); ++i) transfers[i]->verify("message " + std::to_string(i));
}

TEST_F(PointToPoint, EagerSendToOneself) {
    for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{999}, eager}) {
        Transfer out(comm(), message(rank(), rank(), 3, bytes), false), in(comm(), out.expected, true);
        ASSERT_OK(send(out.buffer, rank()));
        ASSERT_OK(recv(in.buffer, rank()));
        stream_->synchronize();
        in.verify("to oneself");
    }
}

/// The counts of a sendrecv must be equal only if it is one message.
TEST_F(PointToPoint, SendrecvToOneselfFromAnother) {
    if (size() < 2) GTEST_SKIP() << "there is no other";
    Transfer own(comm(), message(rank(), rank(), 5, 300), false), own_in(comm(), own.expected, true);
    Transfer out(comm(), message(rank(), next_, 6, 500), false), in(comm(), message(previous_, rank(), 6, 500), true);
    ASSERT_OK(baton_group_begin());
    EXPECT_OK(baton_sendrecv(own.buffer.data(), 300, rank(), in.buffer.data(), 500, previous_, BATON_UINT8, comm(),
                             *stream_));
    EXPECT_OK(recv(own_in.buffer, rank()));
    EXPECT_OK(send(out.buffer, next_));
    ASSERT_OK(baton_group_end());
    stream_->synchronize();
    own_in.verify("to oneself");
    in.verify("from another");
}

TEST_F(PointToPoint, LongMessageToOneselfInAGroup) {
    for (std::size_t bytes : {std::size_t{5}, eager + 1, std::size_t{1000003}}) {
        Transfer out(comm(), message(rank(), rank(), 4, bytes), false), in(comm(), out.expected, true);
        ASSERT_OK(baton_group_begin());
        EXPECT_OK(recv(in.buffer, rank()));
        EXPECT_OK(send(out.buffer, rank()));
        ASSERT_OK(baton_group_end());
        stream_->synchronize();
        in.verify("to oneself, grouped");
    }
}

TEST_F(PointToPoint, OneElementOfEveryType) {
    for (baton_type type : all_types) {
        const std::size_t bytes = width_of(type) * 33;
        Transfer out(comm(), message(rank(), next_, static_cast<int>(type), bytes), false);
        Transfer in(comm(), message(previous_, rank(), static_cast<int>(type), bytes), true);
        ASSERT_OK(
            baton_sendrecv(out.buffer.data(), 33, next_, in.buffer.data(), 33, previous_, type, comm(), *stream_));
        stream_->synchronize();
        in.verify(baton_type_name(type));
    }
}

/// All to all with several messages per pair; every rank posts them in an order of its own.
class Groups : public PointToPoint, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(Groups, RandomOrderSeveralMessagesPerPair) {
    const int per_pair = size() > 4 ? 2 : 3;
    struct Post {
        int peer, index;
        bool receives;
    };
    std::vector<Post> posts;
    for (int peer = 0; peer < size(); ++peer)
        for (int side = 0; side < 2; ++side)
            for (int i = 0; i < per_pair; ++i) posts.push_back({peer, i, side == 1});
    // Any order between pairs and directions, but the k-th of a pair stays before its k+1-th.
    Random random(environment().seed ^ static_cast<std::uint64_t>(rank()));
    std::vector<Post> order = posts;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::vector<int> used(static_cast<std::size_t>(size()) * 2, 0);
    for (Post &post : order) post.index = used[static_cast<std::size_t>(post.peer) * 2 + (post.receives ? 1 : 0)]++;

    const auto bytes_of = [](int index) { return GetParam() * static_cast<std::size_t>(index + 1) + 1; };
    std::vector<std::unique_ptr<Transfer>> transfers;
    for (const Post &post : order) {
        const int from = post.receives ? post.peer : rank(), to = post.receives ? rank() : post.peer;
        transfers.push_back(
            std::make_unique<Transfer>(comm(), message(from, to, post.index, bytes_of(post.index)), post.receives));
    }
    ASSERT_OK(baton_group_begin());
    for (std::size_t i = 0; i < order.size(); ++i)
        EXPECT_OK(order[i].receives ? recv(transfers[i]->buffer, order[i].peer)
                                    : send(transfers[i]->buffer, order[i].peer));
    ASSERT_OK(baton_group_end());
    stream_->synchronize();
    for (std::size_t i = 0; i < order.size(); ++i)
        transfers[i]->verify((order[i].receives ? "from " : "to ") + std::to_string(order[i].peer) + " number " +
                             std::to_string(order[i].index));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Groups, ::testing::Values(0, 10, 5000, eager, 100003, 700001));

std::ptrdiff_t threads_of_this_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
}

/// On the host one thread progresses all messages: with a thread for each, a window of 64 small ones took milliseconds.
TEST_F(PointToPoint, FullGroup) {
    Communicator other;  // has a limit of its own
    Transfer others_out(other, message(rank(), next_, 0, 64), false),
        others_in(other, message(previous_, rank(), 0, 64), true);
    const std::ptrdiff_t threads = threads_of_this_process();
    std::vector<std::unique_ptr<Transfer>> transfers;
    ASSERT_OK(baton_group_begin());
    for (int i = 0; i < BATON_GROUP_LIMIT / 2; ++i) {
        transfers.push_back(std::make_unique<Transfer>(comm(), message(rank(), next_, i, 64), false));
        EXPECT_OK(send(transfers.back()->buffer, next_));
        transfers.push_back(std::make_unique<Transfer>(comm(), message(previous_, rank(), i, 64), true));
        EXPECT_OK(recv(transfers.back()->buffer, previous_));
    }
    EXPECT_OK(baton_sendrecv(others_out.buffer.data(), 64, next_, others_in.buffer.data(), 64, previous_, BATON_UINT8,
                             other, *stream_));
    ASSERT_OK(baton_group_end());
    stream_->synchronize();
    others_in.verify("another communicator's");
    if (!on_gpu()) {
        EXPECT_EQ(threads_of_this_process(), threads) << "a group leaves threads behind";
    }
    for (auto &transfer : transfers) transfer->verify("one of a full group");
}

/// The outermost end issues everything, messages first. So ranks that call one by one in that order find their peers,
/// and nobody's send waits for a recv that comes after it.
TEST_F(PointToPoint, NestedGroupWithACollective) {
    const std::size_t bytes = eager + 200000;
    Transfer out(comm(), message(rank(), next_, 9, bytes), false),
        in(comm(), message(previous_, rank(), 9, bytes), true);
    Buffer reduced(comm(), 400);
    reduced.upload(make_input(BATON_INT32, BATON_SUM, 3, rank(), 100));
    const auto reduce = [&] {
        EXPECT_OK(baton_allreduce(BATON_IN_PLACE, reduced.data(), 100, BATON_INT32, BATON_SUM, comm(), *stream_));
    };
    if (rank() % 2 == 0) {
        ASSERT_OK(baton_group_begin());
        reduce();
        ASSERT_OK(baton_group_begin());
        EXPECT_OK(send(out.buffer, next_));
        ASSERT_OK(baton_group_end());
        EXPECT_OK(recv(in.buffer, previous_));
        ASSERT_OK(baton_group_end());
    } else {
        EXPECT_OK(baton_sendrecv(out.buffer.data(), bytes, next_, in.buffer.data(), bytes, previous_, BATON_UINT8,
                                 comm(), *stream_));
        reduce();
    }
    stream_->synchronize();
    in.verify("nested group");
    EXPECT_TRUE(same_bytes(reduce_inputs(BATON_INT32, BATON_SUM, 3, size(), 100), reduced.download(), BATON_INT32));
}

TEST_F(PointToPoint, EmptyGroup) {
    ASSERT_OK(baton_group_begin());
    ASSERT_OK(baton_group_end());
    expect_works(comm());
}

}  // namespace
}  // namespace baton::test
