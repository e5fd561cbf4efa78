#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "util/failure.hpp"
#include "util/process_watch.hpp"

namespace baton::core {

class MpiFarewell;
struct MpiRequests;

/// How the ranks find each other, used at creation, at destruction and by window calls only: never on the path of an
/// operation, never by the service thread. Not thread-safe. Calls are collective and in the same order on all ranks.
///
/// Every wait ends: when all ranks have come; when the watch throws, which is the wait's error then; when a rank gives
/// up (give_up); or when MPI fails or a process is found dead. After an error the ranks may be at different places: no
/// collective call succeeds any more, and only give_up(), abandon() and destruction are left.
class Bootstrap {
public:
    /// Called before a wait and again and again while it lasts, with how long it has lasted; throws to end it.
    using Watch = std::function<void(std::chrono::nanoseconds waited)>;

    virtual ~Bootstrap() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Ranks of the program that may be at work beside this one, those of other communicators too; itself included.
    virtual int all_ranks() const { return size(); }

    /// The first call of all ranks, before any other. Throws, on all ranks, where they cannot be connected.
    virtual void connect() {}

    /// `all` receives size() blocks of `bytes`, block r from rank r.
    virtual void allgather(const void *mine, std::size_t bytes, void *all) = 0;
    virtual void barrier() = 0;

    void set_watch(Watch watch) { watch_ = std::move(watch); }
    /// For the watch of connect(): the ranks that have not come to it, where that can be told.
    virtual std::vector<int> missing() const { return {}; }

    /// This rank has failed alone and comes to no more collective calls: the waits of the others, which may be in one
    /// that it has left, throw Failure with its code and "rank 2 has given up: ...". Nobody hears of it if this rank
    /// fails in connect() before all have met, or if MPI progresses only inside its calls and the message does not
    /// leave at once. The first rank that gives up counts. Needs no memory.
    virtual void give_up([[maybe_unused]] const Failure &failure) noexcept {}
    /// All ranks have come behind the last call in which one might: nothing needs to be in flight between calls for it.
    virtual void nobody_gives_up_any_more() noexcept {}

    /// The communicator is broken: destruction must not wait for other processes. Threads of this process, which reach
    /// this rank's memory by its addresses, are waited for until they abandon too, at most `patience`. False: they may
    /// still use that memory, so it must not be freed.
    virtual bool abandon([[maybe_unused]] std::chrono::nanoseconds patience) { return true; }

    /// True where the ranks are threads of this process: addresses are valid everywhere, and no process can die alone.
    virtual bool same_process() const = 0;

    template <class T>
    std::vector<T> allgather(const T &mine) {
        std::vector<T> all(static_cast<std::size_t>(size()));
        allgather(&mine, sizeof(T), all.data());
        return all;
    }
    std::vector<std::string> allgather_strings(const std::string &mine);

protected:
    using Clock = std::chrono::steady_clock;
    void call_watch(Clock::time_point since) const {
        if (watch_) watch_(Clock::now() - since);
    }

private:
    Watch watch_;
};

/// Over a private duplicate of `comm`, which connect() makes. Throws BATON_ERR_UNSUPPORTED where `comm` is an
/// inter-communicator or has more than 64 ranks; connect() does, naming the hosts, where the ranks are not all on one.
/// The destructor frees the duplicate unless abandon() was called (a broken communicator must not wait for dead ranks)
/// or MPI is finalized.
///
/// A wait for a process that has ended throws BATON_ERR_PEER_DEAD half a second later, for what it sent last may be
/// under way. Its waits are nonblocking collectives that are tested. MPI cannot cancel or free one that is active, so a
/// wait that was given up leaks its requests, its buffers and the duplicate: MPI may write to the buffers until
/// MPI_Finalize. From connect() until nobody_gives_up_any_more() a receive for last words is posted on the duplicate;
/// what somebody has sent and MPI still has leaks.
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
    /// Another rank's process, once it has come to a roll.
    struct Watched {
        int rank;
        ProcessWatch watch;
        std::optional<Clock::time_point> ended_at;
    };
    /// Takes `active` only where the wait is given up.
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

/// Ranks as threads of one process, for tests without a launcher. make(n) gives n connected ends, one per thread. A
/// wait that was given up is taken back: no later wait of the others counts it.
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
