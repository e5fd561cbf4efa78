#include "collectives/host_executor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>

#include "host_node.hpp"

namespace baton::test {
namespace {

using core::HostExecutor;
using core::HostStream;

/// A stream whose work waits until release().
class HeldStream {
public:
    HeldStream() {
        stream_.enqueue([held = held_.get_future().share()] { held.wait(); });
    }
    void copy(HostExecutor &executor) {
        executor.local_copy(bytes_.data(), bytes_.data() + 1, 1, static_cast<void *>(&stream_));
    }
    void release() {
        held_.set_value();
        stream_.synchronize();
    }

private:
    std::array<std::byte, 2> bytes_{};
    std::promise<void> held_;
    HostStream stream_;
};

TEST(HostExecutor, AMarkIsDoneOnceWhatWasIssuedBeforeHasRun) {
    HostNode node(1, 4096);
    node.with_ranks(core::Links{}, [](const HostNode::Rank &rank) {
        HostExecutor &executor = rank.executor;
        EXPECT_TRUE(executor.mark_is_done());
        HeldStream before, between, behind;
        before.copy(executor);
        EXPECT_TRUE(executor.mark_is_done()) << "nothing had been issued";
        executor.mark();
        between.copy(executor);
        EXPECT_FALSE(executor.mark_is_done());
        before.release();
        EXPECT_TRUE(executor.mark_is_done());
        EXPECT_FALSE(executor.idle());

        executor.mark();
        behind.copy(executor);
        EXPECT_FALSE(executor.mark_is_done()) << "what is marked now is in place of what was";
        between.release();
        EXPECT_TRUE(executor.mark_is_done());
        behind.release();
        EXPECT_TRUE(executor.idle());
    });
}

}  // namespace
}  // namespace baton::test
