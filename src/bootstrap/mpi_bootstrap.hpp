#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <mpi.h>

#include "bootstrap/bootstrap.hpp"
#include "util/process_watch.hpp"

namespace baton::core {

class MpiFarewell;
struct MpiRequests;

/// Works over a private duplicate of `comm`, which connect() makes. REQUIRES: MPI is initialised, and not finalized.
/// Throws BATON_ERR_ARGUMENT for MPI_COMM_NULL, BATON_ERR_UNSUPPORTED for an inter-communicator or more than 64 ranks;
/// connect() throws the latter, naming the hosts, if the ranks are not all on one. The destructor frees the duplicate
/// unless abandon() was called (a broken communicator must not wait for dead ranks) or MPI is finalized.
///
/// - A wait for a process that has ended throws BATON_ERR_PEER_DEAD half a second later, for what it sent last may be
///   under way.
/// - Waits are nonblocking collectives that are tested. MPI cannot cancel or free one that is active, so a wait that
///   was given up leaks its requests, its buffers and the duplicate: MPI may write to the buffers until MPI_Finalize.
/// - From connect() until nobody_gives_up_any_more() a receive for last words is posted on the duplicate. What somebody
///   has sent and MPI still holds leaks.
class MpiBootstrap final : public Bootstrap {
public:
    explicit MpiBootstrap(MPI_Comm comm);  // `comm` must live until connect() has returned
    ~MpiBootstrap() override;
    MpiBootstrap(const MpiBootstrap &) = delete;
    MpiBootstrap &operator=(const MpiBootstrap &) = delete;

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int all_ranks() const override;
    void connect() override;
    std::vector<int> missing() const override;
    void allgather(const void *mine, std::size_t bytes, void *all) override;
    void barrier() override;
    bool same_process() const override { return false; }
    void give_up(const Failure &failure) noexcept override;
    void nobody_gives_up_any_more() noexcept override;
    bool abandon(std::chrono::nanoseconds patience) override;

private:
    struct Present;
    /// The process of another rank that has come to a roll.
    struct Watched {
        int rank;
        ProcessWatch watch;
        std::optional<Clock::time_point> ended_at;
    };
    /// Takes `active` only if the wait is given up.
    void wait(std::unique_ptr<MpiRequests> &active, const char *what);
    void call_the_roll(const Present &mine, std::unique_ptr<MpiRequests> &active);
    void look_and_listen(Clock::time_point since);
    void look_for_dead(Clock::time_point now);
    void duplicate(std::unique_ptr<MpiRequests> &active);
    void require_one_host();

    const MPI_Comm users_;
    MPI_Comm comm_ = MPI_COMM_NULL;
    const MpiRequests *roll_ = nullptr;  // while it is called
    std::vector<Watched> watches_;
    std::unique_ptr<MpiFarewell> farewell_;  // once there is a duplicate
    int rank_ = 0;
    int size_ = 0;
    bool abandoned_ = false;
};

}  // namespace baton::core
