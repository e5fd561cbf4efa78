#include "util/process_watch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <new>
#include <sstream>
#include <string>

#include "util/failure.hpp"

namespace baton::core {
namespace {

struct ProcessState {
    char state = 0;  // of /proc/<pid>/stat; 0: could not be read
    int threads = 0;
    std::uint64_t start_time = 0;

    /// Its parent has not asked yet. A main thread that has left before others is a zombie too, and the process lives.
    bool ended() const { return state == 'X' || (state == 'Z' && threads <= 1); }
};

ProcessState read_state(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    ProcessState result;
    if (!std::getline(file, line)) return result;
    // "pid (name) state ppid ..."; the name may hold anything, also spaces and brackets.
    const std::size_t end = line.rfind(')');
    if (end == std::string::npos) return result;
    std::istringstream fields(line.substr(end + 1));
    std::string skipped;
    fields >> result.state;
    for (int field = 4; field < 20; ++field) fields >> skipped;
    fields >> result.threads >> skipped >> result.start_time;
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

bool ProcessWatch::ended() const noexcept try {
    if (pidfd_) {
        pollfd ready{pidfd_.get(), POLLIN, 0};
        return ::poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) != 0;
    }
    if (::kill(pid_, 0) != 0 && errno == ESRCH) return true;
    const ProcessState now = read_state(pid_);
    if (now.ended()) return true;
    return start_time_ != 0 && now.start_time != 0 && now.start_time != start_time_;
} catch (const std::bad_alloc &) {
    return false;
}

}  // namespace baton::core
