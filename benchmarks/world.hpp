#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace baton::bench {

/// What ends a benchmark: a message for people. The first rank that throws takes the whole job down (run_benchmark).
class Error : public std::runtime_error {
public:
    explicit Error(const std::string &text, int exit_code = 1) : std::runtime_error(text), exit_code_(exit_code) {}
    int exit_code() const { return exit_code_; }

private:
    int exit_code_;
};

/// Returns 1 for what is not an Error.
inline int exit_code_of(const std::exception &error) {
    const auto *known = dynamic_cast<const Error *>(&error);
    return known != nullptr ? known->exit_code() : 1;
}

/// What all ranks find out together. Rank 0 prints it, and the ranks end in order with the largest of their exit codes.
class Refusal : public Error {
public:
    using Error::Error;
};

/// MPI_COMM_WORLD: only for setting up, barriers between rounds, and collecting figures; never inside a timed region.
class World {
public:
    World();
    int rank() const { return rank_; }
    int size() const { return size_; }
    int local_rank() const { return local_rank_; }

    void barrier() const;
    double max(double value) const;
    double min(double value) const;
    double sum(double value) const;
    std::uint64_t sum(std::uint64_t value) const;
    std::vector<double> max(std::vector<double> values) const;
    std::vector<double> sum(std::vector<double> values) const;
    bool all(bool value) const;
    /// Throws a Refusal where a rank was started as another program, or with other arguments, than rank 0: the ranks
    /// would not meet in the same collective calls.
    void require_same_arguments(int argc, const char *const *argv) const;
    /// Runs `work` on rank 0, where all ranks must know the outcome: what it throws is a Refusal on all of them.
    void on_rank_0(const std::function<void()> &work) const;
    /// One line per rank, on rank 0; empty elsewhere.
    std::vector<std::string> gather(const std::string &line) const;

private:
    int rank_ = 0;
    int size_ = 0;
    int local_rank_ = 0;
};

}  // namespace baton::bench
