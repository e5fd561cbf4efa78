#pragma once

#include <sys/types.h>

#include <cstdint>

#include "util/unique_fd.hpp"

namespace baton::core {

/// Clock ticks since boot at which a process started, 0 if that cannot be read: tells a process from a later one with
/// the same number. By the clock of who reads it: in two time namespaces it is not the same.
std::uint64_t process_start_time(pid_t pid);

/// Who a process is, for others.
struct ProcessIdentity {
    std::int32_t pid = 0;
    std::uint64_t pid_namespace = 0;  // inode number, 0 if unknown: only inside one does `pid` mean the same to both
};
ProcessIdentity own_process();
/// Of "/proc/self/ns/pid" and the like; 0 if it cannot be read.
std::uint64_t namespace_inode(const char *path);

/// Notices the end of one process. Through a pidfd, which becomes readable the moment it ends; where the system refuses
/// those (old kernels, some sandboxes), by asking from time to time.
class ProcessWatch {
public:
    enum class Means {
        best,
        polling
    };
    /// REQUIRES: the process has not ended, or at least none other has its number yet; or `start_time` is its own, as
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
