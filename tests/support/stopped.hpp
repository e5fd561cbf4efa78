#pragma once

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/broken.hpp"

namespace baton::test {

/// The process number of a rank, on every rank.
inline pid_t process_of(int rank) {
    int pid = getpid();
    MPI_Bcast(&pid, 1, MPI_INT, rank, MPI_COMM_WORLD);
    return pid;
}

/// A process that is stopped, all of its threads, for as long as this lives: it answers nobody, and is not dead.
class Stopped {
public:
    explicit Stopped(pid_t process) : process_(process) {
        EXPECT_EQ(kill(process_, SIGSTOP), 0);
        for (int tries = 0; state() != 'T' && tries < 100000; ++tries) usleep(100);
        EXPECT_EQ(state(), 'T');
    }
    ~Stopped() { EXPECT_EQ(kill(process_, SIGCONT), 0); }
    Stopped(const Stopped &) = delete;
    Stopped &operator=(const Stopped &) = delete;

private:
    /// As /proc names it: the letter behind the command's name in parentheses.
    char state() const {
        std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
        std::string text;
        std::getline(file, text);
        const std::size_t end = text.rfind(')');
        return end == std::string::npos || end + 2 >= text.size() ? '?' : text[end + 2];
    }

    pid_t process_;
};

}  // namespace baton::test
