#include "util/file_growth.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace baton::core {
namespace {

volatile sig_atomic_t handled = 0;

bool is_blocked(int signal) {
    sigset_t now;
    return ::pthread_sigmask(SIG_BLOCK, nullptr, &now) == 0 && ::sigismember(&now, signal) == 1;
}

TEST(FileGrowthGuard, SignalsWaitUntilItsEnd) {
    const auto before = ::signal(SIGPROF, [](int) { handled = handled + 1; });
    {
        const FileGrowthGuard guard;
        ::raise(SIGPROF);
        EXPECT_EQ(handled, 0);
        EXPECT_FALSE(is_blocked(SIGSEGV));
    }
    EXPECT_EQ(handled, 1);
    EXPECT_FALSE(is_blocked(SIGPROF));
    ::signal(SIGPROF, before);
}

TEST(FileGrowthGuard, TakesTheLimitsSignalAwayThatCameMeanwhile) {
    {
        const FileGrowthGuard guard;
        ::raise(SIGXFSZ);
    }
    EXPECT_FALSE(is_blocked(SIGXFSZ)) << "and the process lives";
}

TEST(FileGrowthGuard, LeavesWhatWasPendingBefore) {
    sigset_t limit;
    ::sigemptyset(&limit);
    ::sigaddset(&limit, SIGXFSZ);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &limit, nullptr), 0);
    ::raise(SIGXFSZ);
    { const FileGrowthGuard guard; }
    EXPECT_TRUE(is_blocked(SIGXFSZ));
    constexpr timespec at_once{0, 0};
    EXPECT_EQ(::sigtimedwait(&limit, nullptr, &at_once), SIGXFSZ);
    ::pthread_sigmask(SIG_UNBLOCK, &limit, nullptr);
}

}  // namespace
}  // namespace baton::core
