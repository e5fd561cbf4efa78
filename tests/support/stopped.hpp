#pragma once

#include <signal.h>
#include <unistd.h>

#include "support/broken.hpp"
#include "support/child_process.hpp"

namespace baton::test {

/// The process number of a rank, on every rank.
inline pid_t process_of(int rank) {
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, rank, MPI_COMM_WORLD);
    return pid;
}

/// Stops a process, all of its threads, while this object lives: the process answers nobody, and is not dead.
class Stopped {
public:
    explicit Stopped(pid_t process) : process_(process) { stop_process(process_); }
    ~Stopped() { EXPECT_EQ(kill(process_, SIGCONT), 0); }
    Stopped(const Stopped &) = delete;
    Stopped &operator=(const Stopped &) = delete;

private:
    pid_t process_;
};

}  // namespace baton::test
