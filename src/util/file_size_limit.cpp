#include "util/file_size_limit.hpp"

#include <signal.h>

namespace baton::core {
namespace {

sigset_t only_this_signal() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGXFSZ);
    return set;
}

bool is_pending() {
    sigset_t pending;
    return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

FileSizeLimitGuard::FileSizeLimitGuard() {
    const sigset_t set = only_this_signal();
    sigset_t before;
    pending_before_ = is_pending();
    blocked_before_ = ::pthread_sigmask(SIG_BLOCK, &set, &before) == 0 && ::sigismember(&before, SIGXFSZ) == 1;
}

FileSizeLimitGuard::~FileSizeLimitGuard() {
    const sigset_t set = only_this_signal();
    constexpr timespec at_once{0, 0};
    if (!pending_before_ && is_pending()) ::sigtimedwait(&set, nullptr, &at_once);
    if (!blocked_before_) ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace baton::core
