#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "support/ranks_as_threads.hpp"

namespace baton::core::testing {

using test::run_threads;

/// Bootstrap over a mapping that forked processes share. A process that dies outside of a call disturbs nobody.
class ProcessBootstrap final : public Bootstrap {
public:
    struct Shared;                 /* lies in the mapping */
    static Shared *make(int size); /* before fork(); never unmapped: the test process ends soon */
    ProcessBootstrap(Shared *shared, int rank) : shared_(shared), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override;
    void allgather(const void *mine, std::size_t bytes, void *all) override;
    void barrier() override;
    bool same_process() const override { return false; }

private:
    Shared *shared_;
    int rank_;
};

/// While it lives, this process can open no file.
class NoDescriptorsLeft {
public:
    NoDescriptorsLeft();
    ~NoDescriptorsLeft();
    NoDescriptorsLeft(const NoDescriptorsLeft &) = delete;
    NoDescriptorsLeft &operator=(const NoDescriptorsLeft &) = delete;

private:
    rlimit before_ = {};
};

struct Ended {
    int exit_code = -1; /* -1: by a signal */
    int signal = 0;
};

/// Runs `body` as `size` forked processes and returns how they ended: 0 if nothing failed in `body`, 1 if an
/// expectation failed or an exception left it. A process that hangs is killed by an alarm.
std::vector<Ended> run_processes(int size, const std::function<void(Bootstrap &)> &body);

}  // namespace baton::core::testing
