#pragma once

#include <signal.h>

#include <cstdint>

namespace baton::core {

/// While it lives, no signal disturbs this thread in growing a file. Beyond the limit of the process (ulimit -f) that
/// fails with EFBIG, instead of ending the process by SIGXFSZ. And posix_fallocate() comes to its end: older kernels
/// give all pages of shared memory back and end it with EINTR when a signal comes, so that with a profiler's it would
/// begin anew for ever. A program with one thread gets its signals when that has ended.
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

/// posix_fallocate() under such a guard: 0, or its error.
int allocate_pages(int file, std::uint64_t offset, std::uint64_t bytes);

}  // namespace baton::core
