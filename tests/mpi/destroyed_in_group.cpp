// Objects that are destroyed, and buffers that are freed, while a group holds calls on them; groups that are dropped.
#include "support/broken.hpp"

namespace baton::test {
namespace {

/// The end of the group names the object that is gone, starts nothing, not even the calls on the communicator that
/// stays, and closes the group. That communicator works afterwards (TearDown).
class DestroyedInGroup : public CommTest {
protected:
    void SetUp() override {
        CommTest::SetUp();
        send_ = std::make_unique<Buffer>(comm(), count * 4);
        recv_ = std::make_unique<Buffer>(comm(), count * 4);
        before_ = recv_->download();
    }

    void TearDown() override {
        expect_works(comm());
        send_.reset();
        recv_.reset();
        CommTest::TearDown();
    }

    baton_result allreduce(baton_comm_t on, baton_stream_t stream) {
        return baton_allreduce(send_->data(), recv_->data(), count, BATON_INT32, BATON_SUM, on, stream);
    }
    baton_result sendrecv(baton_comm_t on, int peer, baton_stream_t stream) {
        return baton_sendrecv(send_->data(), count, peer, recv_->data(), count, peer, BATON_INT32, on, stream);
    }
    baton_result put(baton_window_t window, baton_stream_t stream) {
        return baton_put(send_->data(), count * 4, rank(), 0, window, stream);
    }

    /// Begins a group with calls that would work.
    void begin() {
        ASSERT_OK(baton_group_begin());
        ASSERT_OK(sendrecv(comm(), rank(), nullptr));
        ASSERT_OK(allreduce(comm(), nullptr));
    }

    /// Expects that nothing starts, because `call` was made on `object`, which is gone.
    void expect_nothing_starts(const std::string &call, const std::string &object,
                               const std::string &how = "destroyed") {
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_group_end(), call, object + " is", how);
        EXPECT_TRUE(same_bytes(before_, recv_->download())) << "a part of the group has run";
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_group_end(), "no group is open");
    }

    static constexpr std::size_t count = 100;
    std::unique_ptr<Buffer> send_, recv_;
    Bytes before_;
};

TEST_F(DestroyedInGroup, CommunicatorOfACollective) {
    Communicator other;
    begin();
    ASSERT_OK(allreduce(other, nullptr));
    other.destroy();
    expect_nothing_starts("baton_allreduce", "comm");
}

TEST_F(DestroyedInGroup, CommunicatorOfMessages) {
    Communicator other;
    begin();
    ASSERT_OK(sendrecv(other, rank(), nullptr));
    other.destroy();
    expect_nothing_starts("baton_sendrecv", "comm");
}

TEST_F(DestroyedInGroup, CommunicatorOfAWindow) {
    Communicator other;
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(other, count * 4, &window, &base));
    begin();
    ASSERT_OK(put(window, nullptr));
    other.destroy();
    expect_nothing_starts("baton_put", "window");
}

TEST_F(DestroyedInGroup, Window) {
    baton_window_t window = nullptr, next = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm(), count * 4, &window, &base));
    begin();
    ASSERT_OK(put(window, nullptr));
    ASSERT_OK(baton_signal(rank(), window, nullptr));
    ASSERT_OK(baton_window_destroy(window));
    // May take the place of the one destroyed, and must not be taken for it.
    ASSERT_OK(baton_window_create(comm(), count * 4, &next, &base));
    expect_nothing_starts("baton_put", "window");
    Bytes seen(count * 4);
    copy_memory(seen.data(), base, seen.size(), on_gpu());
    EXPECT_TRUE(same_bytes(Bytes(seen.size()), seen)) << "the put went to another window";
    ASSERT_OK(baton_window_destroy(next));
}

/// Calls of every kind. CUDA looks after its own streams.
TEST_F(DestroyedInGroup, HostStream) {
    if (on_gpu()) GTEST_SKIP() << "the communicator takes CUDA streams";
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm(), count * 4, &window, &base));
    const auto refuse = [&](const char *call, const auto &make) {
        SCOPED_TRACE(call);
        baton_host_stream_t stream = nullptr, next = nullptr;
        ASSERT_OK(baton_host_stream_create(&stream));
        begin();
        ASSERT_OK(make(stream));
        ASSERT_OK(baton_host_stream_destroy(stream));
        ASSERT_OK(baton_host_stream_create(&next));
        expect_nothing_starts(call, "stream");
        EXPECT_OK(baton_host_stream_destroy(next));
    };
    refuse("baton_allreduce", [&](baton_stream_t stream) { return allreduce(comm(), stream); });
    Communicator other;  // begin() has sent to this rank on another stream of comm()
    refuse("baton_sendrecv", [&](baton_stream_t stream) { return sendrecv(other, rank(), stream); });
    refuse("baton_put", [&](baton_stream_t stream) { return put(window, stream); });
    ASSERT_OK(baton_window_destroy(window));
}

/// Other memory of this process may have taken its place, so the argument is not always named.
TEST_F(DestroyedInGroup, Buffer) {
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(comm(), count * 4, &window, &base));
    const auto refuse = [&](const char *call, const auto &make) {
        SCOPED_TRACE(call);
        for (const bool again : {false, true}) {
            void *memory = nullptr, *next = nullptr;
            ASSERT_OK(baton_malloc(comm(), count * 4, &memory));
            begin();
            ASSERT_OK(make(memory));
            ASSERT_OK(baton_free(comm(), memory));
            if (again) {
                ASSERT_OK(baton_malloc(comm(), count * 4, &next));
            }
            expect_nothing_starts(call, "", "freed");
            ASSERT_OK(baton_free(comm(), next));
        }
    };
    refuse("baton_allreduce", [&](void *memory) {
        return baton_allreduce(memory, recv_->data(), count, BATON_INT32, BATON_SUM, comm(), nullptr);
    });
    refuse("baton_sendrecv", [&](void *memory) {
        return baton_sendrecv(send_->data(), count, rank(), memory, count, rank(), BATON_INT32, comm(), nullptr);
    });
    refuse("baton_send", [&](void *memory) { return baton_send(memory, count, BATON_INT32, rank(), comm(), nullptr); });
    refuse("baton_put", [&](void *memory) { return baton_put(memory, count * 4, rank(), 0, window, nullptr); });
    ASSERT_OK(baton_window_destroy(window));
}

/// All levels of the group end, and nothing starts. Only communicators with calls in it are broken, on all ranks.
TEST_F(DestroyedInGroup, TheGroupItself) {
    EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_group_drop(), "baton_group_drop", "no group is open");
    const FragileComm messages(60), collectives(60), windows(60);
    baton_window_t window = nullptr;
    void *base = nullptr;
    ASSERT_OK(baton_window_create(windows, count * 4, &window, &base));
    const int drops = size() - 1;
    if (rank() == drops) {
        ASSERT_OK(baton_group_begin());
        EXPECT_ERROR(BATON_ERR_ARGUMENT, sendrecv(comm(), size(), nullptr), "dest");  // refused, so no part of it
        ASSERT_OK(baton_group_begin());
        EXPECT_OK(sendrecv(messages, rank(), nullptr));
        EXPECT_OK(allreduce(collectives, nullptr));
        EXPECT_OK(put(window, nullptr));
        EXPECT_OK(baton_group_drop());
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_group_end(), "no group is open");
        EXPECT_ERROR(BATON_ERR_ARGUMENT, baton_group_drop(), "no group is open");
    }
    for (const baton_comm_t broken : {baton_comm_t{messages}, baton_comm_t{collectives}, baton_comm_t{windows}}) {
        const Breakage breakage = await_breakage(broken, BATON_SUCCESS, nullptr);
        EXPECT_STREQ(baton_result_name(breakage.code), "BATON_ERR_ABORTED");
        EXPECT_NE(breakage.message.find("rank " + std::to_string(drops) + " dropped a group"), std::string::npos)
            << breakage.message;
        EXPECT_NE(breakage.message.find("baton_group_drop"), std::string::npos) << breakage.message;
    }
    EXPECT_TRUE(same_bytes(before_, recv_->download())) << "a part of the group has run";
}

/// An empty group has nothing that another rank could wait for.
TEST_F(DestroyedInGroup, AnEmptyGroupIsDropped) {
    ASSERT_OK(baton_group_begin());
    EXPECT_OK(baton_group_drop());
    EXPECT_OK(baton_comm_check(comm()));
    EXPECT_OK(allreduce(comm(), nullptr)) << "it is made at once";
}

/// A group may be dropped when a communicator of its calls is gone.
TEST_F(DestroyedInGroup, ThenTheGroupToo) {
    Communicator other;
    ASSERT_OK(baton_group_begin());
    ASSERT_OK(sendrecv(other, rank(), nullptr));
    ASSERT_OK(allreduce(other, nullptr));
    other.destroy();
    EXPECT_OK(baton_group_drop());
    EXPECT_TRUE(same_bytes(before_, recv_->download()));
}

/// A call that was refused is no part of the group. Nor is an object that is destroyed without being used.
TEST_F(DestroyedInGroup, UnusedObjectsDoNotMatter) {
    Communicator other;
    ASSERT_OK(baton_group_begin());
    EXPECT_ERROR(BATON_ERR_ARGUMENT, sendrecv(other, size(), nullptr), "dest");
    ASSERT_OK(sendrecv(comm(), rank(), nullptr));
    other.destroy();
    ASSERT_OK(baton_group_end());
    Stream stream(comm(), Stream::Kind::null);
    stream.synchronize();
    EXPECT_TRUE(same_bytes(send_->download(), recv_->download()));
}

}  // namespace
}  // namespace baton::test
