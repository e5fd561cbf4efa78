#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace baton::test {

inline std::filesystem::path folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

/// The state in the folder of a process or thread: the letter behind the command's name in parentheses; '?' if it has
/// ended.
inline char state_in(const std::filesystem::path &folder) {
    std::ifstream file(folder / "stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(')');
    return name_end == std::string::npos || name_end + 2 >= line.size() ? '?' : line[name_end + 2];
}

/// Returns 'Z' for a process whose main thread has left.
inline char process_state(pid_t pid) { return state_in(folder_of(pid)); }

inline bool all_threads_stopped(pid_t pid) {
    for (const auto &thread : std::filesystem::directory_iterator(folder_of(pid) / "task"))
        if (state_in(thread.path()) != 'T') return false;
    return true;
}

/// Stops a process. Returns when none of its threads runs any more: the signal reaches them one by one.
inline void stop_process(pid_t pid) {
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!all_threads_stopped(pid)) {
        ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "process " << pid << " does not stop";
        ::sched_yield();
    }
}

/// Forks a process whose first thread ends and in which another lives on, until a signal ends it. MPI allows such
/// ranks: its main thread need not be the process's.
inline pid_t start_child_without_main_thread() {
    const pid_t child = ::fork();
    if (child == 0) {
        std::thread([] {
            for (;;) ::pause();
        }).detach();
        ::syscall(SYS_exit, 0);  // ends this thread alone
    }
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (process_state(child) != 'Z' && std::chrono::steady_clock::now() < give_up) ::sched_yield();
    return child;
}

}  // namespace baton::test
