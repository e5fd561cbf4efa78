#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace baton::test {

/// Of /proc/<pid>/stat: 'Z' of a process whose main thread has left.
inline char process_state(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    return line.at(line.rfind(')') + 2);
}

/// A fork of this process that lives by another thread than its first one, until a signal ends it. MPI allows such
/// ranks: its main thread need not be the process's.
inline pid_t start_child_without_main_thread() {
    const pid_t child = ::fork();
    if (child == 0) {
        std::thread([] {
            for (;;) ::pause();
        }).detach();
        ::syscall(SYS_exit, 0);  // this thread alone
    }
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (process_state(child) != 'Z' && std::chrono::steady_clock::now() < give_up) ::sched_yield();
    return child;
}

}  // namespace baton::test
