#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "collectives/executor.hpp"
#include "memory/peer_memory.hpp"
#include "sync/control.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// What has broken a communicator, if anything has: the first failure that this rank finds, or hears of from another
/// one. It is what all later calls throw. Whoever finds one tells the others, and ends what waits on this rank.
///
/// A communicator is being created, then open, then closed (it is being destroyed), then forgotten. Any thread, unless
/// said otherwise.
class Breakage {
public:
    /// Whether close() and forget() may come while the caller looks. They do not in a call, which has the
    /// communicator's turn, nor in an operation, which shut_down() waits for: then a look takes no lock.
    enum class Closing {
        impossible,
        possible
    };

    Breakage(int rank, int size) : rank_(rank), size_(size) {}
    Breakage(const Breakage &) = delete;
    Breakage &operator=(const Breakage &) = delete;

    /// The communicator's. Once it is known, before anything else.
    void set_timeout(std::chrono::nanoseconds timeout) { timeout_ = timeout; }
    std::chrono::nanoseconds timeout() const { return timeout_; }

    /// From here on failures show in `control` and at `peers`, and are told there and to `executor`. The executor must
    /// live until close(), the others until forget().
    void open(Control &control, PeerMemory &peers, Executor &executor);
    /// When it returns nobody uses what hold_open() keeps, nor the executor.
    void close();
    /// When it returns nobody uses control and peers either.
    void forget();

    /// Keeps close() waiting while the result lives. Throws as require_open().
    [[nodiscard]] std::shared_lock<std::shared_mutex> hold_open() const;
    /// Throws BATON_ERR_ARGUMENT once it is closed.
    void require_open() const;

    bool broken() const { return broken_.load(); }
    /// This rank has found a reason. The first one counts, whoever calls later. During creation nobody is told: the
    /// ranks meet anyway.
    void break_with(baton_result code, std::string text) { take_over({code, std::move(text), true}); }
    void break_with(const Failure &failure) { break_with(failure.code(), failure.what()); }

    /// Takes over what this rank's waiters or other ranks have found since. From calls, state queries and tick().
    void look(Closing closing);
    /// Throws what broke the communicator, if anything did, also while it is closed. Where this rank only knows that
    /// another one gave up, waits a moment for that rank's words.
    void throw_if_broken(Closing closing);
    /// Both: what every call asks first.
    void require_working(Closing closing);
    /// REQUIRES: broken().
    [[noreturn]] void throw_reason() const;

    /// From the service thread, ten times a second: looks, and ends waits that have no clock of their own.
    void tick();

private:
    struct News {
        baton_result code = BATON_SUCCESS;
        std::string text;
        bool found_here = false;  // and so told to the others
    };
    void take_over(News news);
    std::shared_lock<std::shared_mutex> against_teardown(Closing closing) const;
    std::optional<News> find(Closing closing) const;
    std::uint64_t seen_abort(Closing closing) const;

    const int rank_;
    const int size_;
    std::chrono::nanoseconds timeout_{};

    // Held alone to change the four below; shared by who uses them, unless Closing::impossible.
    mutable std::shared_mutex teardown_;
    std::atomic<bool> open_{false};
    Control *control_ = nullptr;
    PeerMemory *peers_ = nullptr;
    Executor *executor_ = nullptr;

    mutable std::mutex mutex_;  // guards the next two
    baton_result code_ = BATON_SUCCESS;
    std::string text_;
    std::atomic<bool> broken_{false};  // set after them
};

}  // namespace baton::core
