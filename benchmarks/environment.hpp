#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "baton/baton.h"

namespace baton::bench {

/// What ends a benchmark: a message for people. The first rank that throws takes the whole job down (run_benchmark).
class Error : public std::runtime_error {
public:
    explicit Error(const std::string &text, int exit_code = 1) : std::runtime_error(text), exit_code_(exit_code) {}
    int exit_code() const { return exit_code_; }

private:
    int exit_code_;
};

/// 1 for what is no Error.
inline int exit_code_of(const std::exception &error) {
    const auto *known = dynamic_cast<const Error *>(&error);
    return known != nullptr ? known->exit_code() : 1;
}

/// What all ranks find out together: rank 0 prints it, and the ranks end in order with the largest of their exit codes.
class Refusal : public Error {
public:
    using Error::Error;
};

/// Throws Error with the code's name and Baton's message, which names the call, unless it worked.
void check(baton_result result);

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
    /// Something of rank 0's that all ranks must know the outcome of: what it throws is a Refusal on all of them.
    void on_rank_0(const std::function<void()> &work) const;
    /// One line per rank, on rank 0; empty elsewhere.
    std::vector<std::string> gather(const std::string &line) const;

private:
    int rank_ = 0;
    int size_ = 0;
    int local_rank_ = 0;
};

enum class Place {
    host,
    gpu
};

/// GPUs that this process can use: 0 in a build without CUDA and on a machine without a driver.
int visible_gpus();

/// baton_config's transport for host memory. Unset where BATON_TRANSPORT says something else: that is Baton's to
/// refuse, and should not pass unnoticed.
inline int host_transport() {
    const char *set = std::getenv("BATON_TRANSPORT");
    const std::string asked_for = set == nullptr ? "" : set;
    return asked_for.empty() || asked_for == "auto" ? static_cast<int>(BATON_TRANSPORT_HOST) : -1;
}

/// A Baton communicator over all ranks with memory of one kind, and the stream that its calls are issued on: a
/// non-blocking CUDA stream, or NULL for the host (then a call is complete when it returns).
class Communicator {
public:
    /// On GPUs rank r uses device (local rank % visible devices). Throws where `place` is not to be had. `tuning` is
    /// baton_config's, null for what is in force here.
    Communicator(const World &world, Place place, const char *tuning = nullptr);
    /// In order after success; in an exception's unwinding it aborts first, so that it does not wait for other ranks.
    ~Communicator();
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    const World &world() const { return world_; }
    baton_comm_t handle() const { return comm_; }
    baton_stream_t stream() const { return stream_; }
    bool on_gpu() const { return info_.on_gpu != 0; }
    int rank() const { return info_.rank; }
    int size() const { return info_.size; }
    const baton_info &info() const { return info_; }

    /// Returns when everything issued on stream() has finished.
    void synchronize() const;
    /// Throws if the communicator has broken: a kernel that gave up ends its stream without an error of CUDA.
    void check_alive() const;

private:
    const World &world_;
    baton_comm_t comm_ = nullptr;
    baton_stream_t stream_ = nullptr;
    baton_info info_{};
};

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// MPI_Init, body, MPI_Finalize; returns the largest of the ranks' exit codes. An exception is printed with the rank
/// and ends all ranks by MPI_Abort, because the others may wait for this one.
int run_benchmark(int argc, char **argv, const std::function<int(const World &)> &body);

}  // namespace baton::bench
