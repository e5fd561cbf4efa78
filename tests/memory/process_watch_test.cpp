#include "util/process_watch.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child_process.hpp"

#include <string>

namespace baton::core::testing {
namespace {

/// A child that waits for a signal.
pid_t start_child() {
    const pid_t child = ::fork();
    if (child == 0) {
        for (;;) ::pause();
    }
    return child;
}

TEST(ProcessWatch, SeesAKilledProcessBeforeItIsReaped) {
    const pid_t child = start_child();
    const ProcessWatch watch(child);
    EXPECT_FALSE(watch.ended());
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    siginfo_t info = {};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);  // a zombie from here on
    EXPECT_TRUE(watch.ended());
    if (watch.descriptor() >= 0) {
        pollfd ready{watch.descriptor(), POLLIN, 0};
        EXPECT_EQ(::poll(&ready, 1, 0), 1);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(watch.ended());
}

TEST(ProcessWatch, StartTimesTellProcessesApart) {
    EXPECT_NE(process_start_time(::getpid()), 0U);
    EXPECT_EQ(process_start_time(::getpid()), process_start_time(::getpid()));
    EXPECT_NE(process_start_time(::getpid()), process_start_time(1));
}

TEST(ProcessWatch, AProcessLivesOnWithoutItsMainThread) {
    const pid_t child = test::start_child_without_main_thread();
    const ProcessWatch polling(child, ProcessWatch::Means::polling);
    const ProcessWatch best(child);
    EXPECT_EQ(test::process_state(child), 'Z');
    EXPECT_FALSE(polling.ended());
    EXPECT_FALSE(best.ended());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(polling.ended());
    EXPECT_TRUE(best.ended());
}

TEST(ProcessWatch, WithoutAPidfdAsksTheProcessTable) {
    const pid_t child = start_child();
    const std::uint64_t start = process_start_time(child);
    ASSERT_NE(start, 0U);
    const ProcessWatch watch(child, start, ProcessWatch::Means::polling);
    EXPECT_EQ(watch.descriptor(), -1);
    EXPECT_FALSE(watch.ended());
    const ProcessWatch earlier(child, start - 1, ProcessWatch::Means::polling);  // the number has been given again
    EXPECT_TRUE(earlier.ended());
    ::kill(child, SIGKILL);
    siginfo_t info = {};
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    EXPECT_TRUE(watch.ended());
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(watch.ended());
}

}  // namespace
}  // namespace baton::core::testing
