#include "util/process_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace baton::core {
namespace {

struct ProcessState {
    char state = 0;  // of /proc/<pid>/stat; 0: could not be read
    int threads = 0;
    std::uint64_t start_time = 0;

    /// A zombie has ended, unless it is a main thread that has left before others: then the process lives.
    bool ended() const { return state == 'X' || (state == 'Z' && threads <= 1); }
};

/// Takes no memory: it is called where that may have run out.
ProcessState read_state(pid_t pid) noexcept {
    char text[1024];  // enough up to field 22: a name of 64 bytes at most, and numbers of 20
    std::snprintf(text, sizeof(text), "/proc/%d/stat", static_cast<int>(pid));
    const UniqueFd file(::open(text, O_RDONLY | O_CLOEXEC));
    const ssize_t length = file ? ::read(file.get(), text, sizeof(text) - 1) : -1;
    ProcessState result;
    if (length <= 0) return result;
    text[length] = '\0';
    // "pid (name) state ppid ..."; the name may hold anything, also spaces and brackets.
    const char *const end = std::strrchr(text, ')');
    if (end == nullptr) return result;
    // Fields 3, 20 and 22 of proc(5).
    std::sscanf(end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d %*s %" SCNu64,
                &result.state, &result.threads, &result.start_time);
    return result;
}

}  // namespace

std::uint64_t process_start_time(pid_t pid) { return read_state(pid).start_time; }

std::uint64_t namespace_inode(const char *path) {
    struct stat status = {};
    return ::stat(path, &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

ProcessIdentity own_process() { return {::getpid(), namespace_inode("/proc/self/ns/pid")}; }

ProcessWatch::ProcessWatch(pid_t pid, std::uint64_t start_time, Means means) : pid_(pid), start_time_(start_time) {
    if (means == Means::best) pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool ProcessWatch::ended() const noexcept {
    if (pidfd_) {
        pollfd ready{pidfd_.get(), POLLIN, 0};
        return ::poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) != 0;
    }
    if (::kill(pid_, 0) != 0 && errno == ESRCH) return true;
    const ProcessState now = read_state(pid_);
    if (now.ended()) return true;
    return start_time_ != 0 && now.start_time != 0 && now.start_time != start_time_;
}

}  // namespace baton::core
