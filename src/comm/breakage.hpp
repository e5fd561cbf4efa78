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
/// one. It is what all later calls throw. Whoever finds one tells the others, and ends what waits on this rank.
///
/// A communicator is being created, then open, then closed (it is being destroyed), then forgotten. Any thread, unless
/// said otherwise.
class Breakage {
public:
    /// Who asks. A call holds the communicator's turn, and shut_down() waits for operations, so close() and forget()
    /// cannot come meanwhile, and no lock is needed. Any other thread takes one.
    enum class Caller {
        call_or_operation,
        any_thread
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
    /// ranks meet anyway. Needs no memory, so that the others hear of it where that is what has run out.
    void break_with(const Failure &reason) noexcept { take_over({reason, true}); }

    /// For what a call has to end whatever fails: the failure of `step` breaks the communicator, and is returned, to be
    /// thrown when the rest of the call is done.
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

    /// Takes over what this rank's waiters or other ranks have found since. From calls, state queries and tick().
    void catch_up(Caller caller) noexcept;
    /// Throws what broke the communicator, if anything did, also while it is closed. Where this rank only knows that
    /// another one gave up, waits a moment for that rank's words.
    void throw_if_broken(Caller caller);
    /// Both: what every call asks first.
    void require_working(Caller caller);
    /// REQUIRES: broken().
    [[noreturn]] void throw_reason() const;

    /// From the service thread, ten times a second: looks, and ends waits that have no clock of their own.
    void tick();

private:
    struct News {
        Failure reason;
        bool found_here = false;  // and so told to the others
    };
    void take_over(const News &news) noexcept;
    std::shared_lock<std::shared_mutex> against_teardown(Caller caller) const;
    std::optional<News> find(Caller caller) const noexcept;
    std::uint64_t seen_abort(Caller caller) const;

    const int rank_;
    const int size_;
    std::chrono::nanoseconds timeout_{};

    std::atomic<bool> open_{false};
    // Held alone to change the three below; shared by who uses them, unless Caller::call_or_operation.
    mutable std::shared_mutex teardown_;
    Control *control_ = nullptr;
    PeerMemory *peers_ = nullptr;
    Executor *executor_ = nullptr;

    mutable std::mutex mutex_;  // guards the next one
    std::optional<Failure> reason_;
    std::atomic<bool> broken_{false};  // set after it
};

}  // namespace baton::core
