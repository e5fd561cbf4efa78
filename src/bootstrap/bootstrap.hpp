#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "util/failure.hpp"

namespace baton::core {

/// How the ranks find each other, at creation, at destruction and in window calls only: never on the path of an
/// operation, never by the service thread. Not thread-safe. Calls are collective and in the same order on all ranks.
///
/// Every wait ends: when all ranks have come, when the watch throws (its exception is then the wait's), when a rank
/// gives up (give_up), when MPI fails, or when a process is found dead. After an error the ranks may be at different
/// places: no collective call succeeds any more, and only give_up(), abandon() and destruction are left.
class Bootstrap {
public:
    /// Called before a wait and again and again while it lasts, with how long it has lasted; throws to end it.
    using Watch = std::function<void(std::chrono::nanoseconds waited)>;

    virtual ~Bootstrap() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// How many ranks of the program may be at work here, this one and those of other communicators included.
    virtual int all_ranks() const { return size(); }

    /// The first call on all ranks. Throws, on all of them, if they cannot be connected.
    virtual void connect() {}

    /// `all` receives size() blocks of `bytes`, block r from rank r.
    virtual void allgather(const void *mine, std::size_t bytes, void *all) = 0;
    virtual void barrier() = 0;

    void set_watch(Watch watch) { watch_ = std::move(watch); }
    /// For the watch of connect(): returns the ranks that have not come to it, if that can be told.
    virtual std::vector<int> missing() const { return {}; }

    /// Tells the others that this rank has failed alone and comes to no more collective calls. Their waits, maybe in a
    /// call that it has left, throw Failure with its code and "rank 2 has given up: ...". Nobody hears of it if this
    /// rank fails in connect() before all have met, or if MPI progresses only inside its calls and the message does not
    /// leave at once. The first rank that gives up counts. Needs no memory.
    virtual void give_up([[maybe_unused]] const Failure &failure) noexcept {}
    /// All ranks are past the last call in which one might give up: nothing need be in flight between calls for it.
    virtual void nobody_gives_up_any_more() noexcept {}

    /// The communicator is broken: from now on destruction does not wait for other processes. Ranks that are threads of
    /// this process reach this rank's memory by its addresses: waits until they abandon too, at most `patience`.
    /// Returns false if they may still use that memory, so that it must not be freed.
    virtual bool abandon([[maybe_unused]] std::chrono::nanoseconds patience) { return true; }

    /// True if the ranks are threads of this process: addresses are valid everywhere, and no process can die alone.
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
