#pragma once

#include <signal.h>

#include <cstdint>

namespace baton::core {

/// While it lives, no signal disturbs this thread in growing a file:
/// - Growing beyond the limit of the process (ulimit -f) fails with EFBIG, instead of ending the process by SIGXFSZ.
/// - posix_fallocate() comes to its end. Older kernels, when a signal comes, give all pages of shared memory back and
///   end it with EINTR, so that with a profiler's signals it would begin anew for ever.
/// A program with one thread gets its signals afterwards.
class FileGrowthGuard {
public:
    FileGrowthGuard();
    ~FileGrowthGuard();
    FileGrowthGuard(const FileGrowthGuard &) = delete;
    FileGrowthGuard &operator=(const FileGrowthGuard &) = delete;

private:
    sigset_t before_;
    bool pending_before_ = false;
};

/// posix_fallocate() under such a guard. Returns 0 or its error.
int allocate_pages(int file, std::uint64_t offset, std::uint64_t bytes);

}  // namespace baton::core
