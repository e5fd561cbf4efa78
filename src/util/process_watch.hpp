#pragma once

#include <sys/types.h>

#include <cstdint>

#include "util/unique_fd.hpp"

namespace baton::core {

/// Clock ticks since boot at which a process started; 0 if that cannot be read. Tells a process from a later one with
/// the same number. By the reader's clock, which differs between time namespaces.
std::uint64_t process_start_time(pid_t pid);

/// What others know a process by.
struct ProcessIdentity {
    std::int32_t pid = 0;
    std::uint64_t pid_namespace = 0;  // inode number, 0 if unknown: `pid` means the same only within one
};
ProcessIdentity own_process();
/// The inode number of "/proc/self/ns/pid" and the like; 0 if it cannot be read.
std::uint64_t namespace_inode(const char *path);

/// Notices the end of one process: through a pidfd, which becomes readable the moment it ends, or by asking from time
/// to time where the system refuses those (old kernels, some sandboxes).
class ProcessWatch {
public:
    enum class Means {
        best,
        polling
    };
    /// REQUIRES: the process has not ended, or at least no other has its number yet; or `start_time` is its own, as
    /// this process reads it.
    explicit ProcessWatch(pid_t pid, Means means = Means::best) : ProcessWatch(pid, process_start_time(pid), means) {}
    ProcessWatch(pid_t pid, std::uint64_t start_time, Means means);

    int descriptor() const { return pidfd_.get(); } /* readable once the process has ended; -1: call ended() at times */
    bool ended() const noexcept;
    pid_t pid() const { return pid_; }

private:
    pid_t pid_;
    std::uint64_t start_time_;
    UniqueFd pidfd_;
};

}  // namespace baton::core
