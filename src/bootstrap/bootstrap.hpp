#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "util/failure.hpp"

namespace baton::core {

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

}  // namespace baton::core
