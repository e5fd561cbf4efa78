#include "ranks.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace baton::core::testing {

struct ProcessBootstrap::Shared {
    static constexpr std::size_t block_bytes = 4096;
    static constexpr int max_size = 16;
    int size;
    pthread_barrier_t all_here;
    std::byte blocks[max_size][block_bytes];
};

ProcessBootstrap::Shared *ProcessBootstrap::make(int size) {
    void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || size > Shared::max_size) throw std::runtime_error("no shared memory for the test");
    auto *shared = static_cast<Shared *>(memory);
    shared->size = size;
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->all_here, &attributes, static_cast<unsigned>(size));
    return shared;
}

int ProcessBootstrap::size() const { return shared_->size; }

void ProcessBootstrap::barrier() { pthread_barrier_wait(&shared_->all_here); }

void ProcessBootstrap::allgather(const void *mine, std::size_t bytes, void *all) {
    if (bytes > Shared::block_bytes) throw std::runtime_error("block too large for the test's bootstrap");
    std::memcpy(shared_->blocks[rank_], mine, bytes);
    barrier();
    for (int r = 0; r < shared_->size; ++r) {
        std::memcpy(static_cast<std::byte *>(all) + static_cast<std::size_t>(r) * bytes, shared_->blocks[r], bytes);
    }
    barrier();
}

std::vector<Ended> run_processes(int size, const std::function<void(Bootstrap &)> &body) {
    constexpr unsigned patience_seconds = 60;
    ProcessBootstrap::Shared *shared = ProcessBootstrap::make(size);
    std::vector<pid_t> children;
    std::fflush(nullptr);
    for (int rank = 0; rank < size; ++rank) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(patience_seconds);
            bool failed = false;
            try {
                ProcessBootstrap bootstrap(shared, rank);
                body(bootstrap);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
                failed = true;
            }
            std::fflush(nullptr);
            ::_exit(failed || ::testing::Test::HasFailure() ? 1 : 0);
        }
        children.push_back(child);
    }
    std::vector<Ended> results;
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        Ended ended;
        if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
        results.push_back(ended);
    }
    return results;
}

NoDescriptorsLeft::NoDescriptorsLeft() {
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none_left{static_cast<rlim_t>(lowest_free), before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
}
NoDescriptorsLeft::~NoDescriptorsLeft() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

}  // namespace baton::core::testing
