#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "thread_ranks.hpp"

namespace baton::test {
namespace {

using std::chrono::steady_clock;
using Work = std::function<void(core::Communicator &)>;

/// How often a thread of this process has left its processor voluntarily: to sleep, not by sched_yield().
long sleeps_of(pid_t thread) {
    std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
    for (std::string name, value; status >> name && std::getline(status, value);)
        if (name == "voluntary_ctxt_switches:") return std::stol(value);
    ADD_FAILURE() << "no such thread, or a system that does not count";
    return 0;
}

bool comes_to_sleep(pid_t thread) {
    const long many = sleeps_of(thread) + 100;
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (sleeps_of(thread) < many) {
        if (steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

/// Rank 0 waits for rank 1, which ends the wait once it has seen rank 0 sleep.
void expect_sleep_in(const Work &wait, const Work &end) {
    std::atomic<pid_t> waiter{0};
    with_ranks({.size = 2, .timeout_seconds = 300}, [&](core::Communicator &comm) {
        if (comm.rank() == 0) {
            waiter = gettid();
            return wait(comm);
        }
        while (waiter == 0) std::this_thread::yield();
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
