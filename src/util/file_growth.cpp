#include "util/file_growth.hpp"

#include <fcntl.h>

#include <cerrno>
#include <initializer_list>

namespace baton::core {
namespace {

bool limit_is_pending() {
    sigset_t pending;
    return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
}

}  // namespace

FileGrowthGuard::FileGrowthGuard() : pending_before_(limit_is_pending()) {
    sigset_t all;
    ::sigfillset(&all);
    // A fault of the thread itself cannot wait.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) ::sigdelset(&all, signal);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
}

FileGrowthGuard::~FileGrowthGuard() {
    if (!pending_before_ && limit_is_pending()) {
        sigset_t limit;
        ::sigemptyset(&limit);
        ::sigaddset(&limit, SIGXFSZ);
        constexpr timespec at_once{0, 0};
        ::sigtimedwait(&limit, nullptr, &at_once);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int allocate_pages(int file, std::uint64_t offset, std::uint64_t bytes) {
    const FileGrowthGuard no_signal;
    int error = 0;
    do {  // a stop of the process interrupts it all the same
        error = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (error == EINTR);
    return error;
}

}  // namespace baton::core
