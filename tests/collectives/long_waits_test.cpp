#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "thread_ranks.hpp"

namespace baton::test {
namespace {

using std::chrono::steady_clock;
using Work = std::function<void(core::Communicator &)>;

std::chrono::nanoseconds time_of(clockid_t clock) {
    timespec time{};
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Whether a thread leaves its processor for most of some tenth of a second.
bool comes_to_sleep(clockid_t processor_time) {
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (steady_clock::now() < deadline) {
        const auto begin = steady_clock::now();
        const auto used = time_of(processor_time);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        if (time_of(processor_time) - used < (steady_clock::now() - begin) / 2) return true;
    }
    return false;
}

/// Rank 0 waits for rank 1, which ends its wait once it has seen it sleep.
void expect_sleep_in(const Work &wait, const Work &end) {
    std::atomic<bool> begun{false};
    clockid_t waiter{};
    with_ranks({.size = 2, .timeout_seconds = 300}, [&](core::Communicator &comm) {
        if (comm.rank() == 0) {
            EXPECT_EQ(pthread_getcpuclockid(pthread_self(), &waiter), 0);
            begun = true;
            return wait(comm);
        }
        while (!begun) std::this_thread::yield();
        EXPECT_TRUE(comes_to_sleep(waiter));
        end(comm);
    });
}

TEST(LongWaits, ForACollectiveSleep) { expect_sleep_in(barrier, barrier); }

class LongWaitsForMessages : public ::testing::TestWithParam<int> {};

TEST_P(LongWaitsForMessages, Sleep) {
    std::vector<std::byte> sent(static_cast<std::size_t>(GetParam())), received(sent.size());
    const auto requests_of = [](auto make, std::vector<std::byte> &bytes, int peer) {
        return [=, &bytes](core::Communicator &comm) {
            std::vector<core::Request> requests;
            for (std::byte &byte : bytes) requests.push_back(make(comm, &byte, 1, peer));
            run(comm, requests);
        };
    };
    expect_sleep_in(requests_of(recv_request, received, 1), requests_of(send_request, sent, 0));
}

INSTANTIATE_TEST_SUITE_P(Groups, LongWaitsForMessages, ::testing::Values(1, 20));

}  // namespace
}  // namespace baton::test
