#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "collectives/executor.hpp"
#include "memory/peer_memory.hpp"
#include "sync/control.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// What has broken a communicator, if anything has: the first failure that this rank finds, or hears of from another
/// rank. All later calls throw it. The rank that finds a failure tells the others, and each rank ends its own waits.
///
/// A communicator is being created, then open, then closed (it is being destroyed), then forgotten. Thread-safe, unless
/// said otherwise.
class Breakage {
public:
    /// Who asks. A call holds the communicator's turn, and shut_down() waits for operations, so close() and forget()
    /// cannot come meanwhile and no lock is needed. Any other thread takes one.
    enum class Caller {
        call_or_operation,
        any_thread
    };

    Breakage(int rank, int size) : rank_(rank), size_(size) {}
    Breakage(const Breakage &) = delete;
    Breakage &operator=(const Breakage &) = delete;

    /// Sets the communicator's timeout. Called as soon as that is known, before anything else.
    void set_timeout(std::chrono::nanoseconds timeout) { timeout_ = timeout; }
    std::chrono::nanoseconds timeout() const { return timeout_; }

    /// From now on failures are found in `control` and at `peers`, and are told there and to `executor`. The executor
    /// must live until close(), the others until forget().
    void open(Control &control, PeerMemory &peers, Executor &executor);
    /// On return nobody holds hold_open() any more, and nobody uses the executor.
    void close();
    /// On return nobody uses control and peers either.
    void forget();

    /// Keeps close() waiting while the result lives. Throws like require_open().
    [[nodiscard]] std::shared_lock<std::shared_mutex> hold_open() const;
    /// Throws BATON_ERR_ARGUMENT unless it is open.
    void require_open() const;

    bool broken() const { return broken_.load(); }
    /// Breaks the communicator for a reason that this rank has found; only the first reason counts. During creation
    /// nobody is told: the ranks meet anyway. Needs no memory, so that the others hear of a lack of memory too.
    void break_with(const Failure &reason) noexcept { take_over({reason, true}); }

    /// Runs `step`, whose failure breaks the communicator and is returned: for calls that have to finish the rest
    /// before they throw it.
    template <class Step>
    std::exception_ptr break_if_it_fails(const Step &step) {
        try {
            step();
            return nullptr;
        } catch (const std::exception &failure) {
            break_with(as_failure(failure));
            return std::current_exception();
        }
    }

    /// Takes over what this rank's waiters or other ranks have found since. Called by calls, state queries and tick().
    void catch_up(Caller caller) noexcept;
    /// Throws what broke the communicator, if anything did, also while it is closed. If this rank only knows that
    /// another one gave up, waits a moment for that rank's words.
    void throw_if_broken(Caller caller);
    /// require_open(), then throw_if_broken(): what every call does first.
    void require_working(Caller caller);
    /// REQUIRES: broken().
    [[noreturn]] void throw_reason() const;

    /// Called by the service thread ten times a second. Catches up, and ends waits that have no clock of their own.
    void tick();

private:
    struct News {
        Failure reason;
        bool found_here = false;  // then the others have to be told
    };
    void take_over(const News &news) noexcept;
    std::shared_lock<std::shared_mutex> against_teardown(Caller caller) const;
    std::optional<News> find(Caller caller) const noexcept;
    std::uint64_t seen_abort(Caller caller) const;

    const int rank_;
    const int size_;
    std::chrono::nanoseconds timeout_{};

    std::atomic<bool> open_{false};
    // Locked exclusively to change the three below, and shared to use them, except by Caller::call_or_operation.
    mutable std::shared_mutex teardown_;
    Control *control_ = nullptr;
    PeerMemory *peers_ = nullptr;
    Executor *executor_ = nullptr;

    mutable std::mutex mutex_;  // guards reason_
    std::optional<Failure> reason_;
    std::atomic<bool> broken_{false};  // set after reason_
};

}  // namespace baton::core
