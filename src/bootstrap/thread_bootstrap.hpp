#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// Ranks as threads of one process, for tests without a launcher. make(n) gives n connected ends, one per thread. A
/// wait that was given up is taken back: later waits of the others do not count it.
class ThreadBootstrap final : public Bootstrap {
public:
    static std::vector<std::unique_ptr<ThreadBootstrap>> make(int size);
    ~ThreadBootstrap() override;

    int rank() const override { return rank_; }
    int size() const override;
    void allgather(const void *mine, std::size_t bytes, void *all) override;
    void barrier() override;
    bool same_process() const override { return true; }
    void give_up(const Failure &failure) noexcept override;
    bool abandon(std::chrono::nanoseconds patience) override;

private:
    struct Shared;
    ThreadBootstrap(std::shared_ptr<Shared> shared, int rank);
    std::shared_ptr<Shared> shared_;
    int rank_;
};

}  // namespace baton::core
