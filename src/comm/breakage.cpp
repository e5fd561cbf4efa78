#include "comm/breakage.hpp"

#include <thread>

#include "comm/error_text.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// How long a caller waits for the words of the rank that found an error, before it reports the bare fact.
constexpr auto patience_for_text = std::chrono::milliseconds(500);

}  // namespace

void Breakage::open(Control &control, PeerMemory &peers, Executor &executor) {
    const std::lock_guard lock(teardown_);
    control_ = &control;
    peers_ = &peers;
    executor_ = &executor;
    open_.store(true, std::memory_order_release);
}

void Breakage::close() {
    // First: otherwise threads that keep asking could share the lock without a gap, and this one would never get it.
    open_.store(false, std::memory_order_release);
    const std::lock_guard lock(teardown_);
    executor_ = nullptr;
}

void Breakage::forget() {
    const std::lock_guard lock(teardown_);
    control_ = nullptr;
    peers_ = nullptr;
}

std::shared_lock<std::shared_mutex> Breakage::hold_open() const {
    require_open();
    std::shared_lock lock(teardown_);
    require_open();  // close() may have come before the lock was taken; from now on it waits
    return lock;
}

void Breakage::require_open() const {
    if (!open_.load(std::memory_order_acquire)) fail(BATON_ERR_ARGUMENT, "comm has been destroyed");
}

void Breakage::take_over(const News &news) noexcept {
    const Failure &reason = news.reason;
    {
        // A thread that sees broken_ may destroy the communicator, or free its memory, at once. So the other ranks are
        // told before broken_ is set, and close() and forget() wait for the rest.
        const std::shared_lock in_place(teardown_);
        {
            const std::lock_guard lock(mutex_);
            if (reason_) return;
            reason_ = reason;
            if (peers_ != nullptr && news.found_here) peers_->post_error(reason);
            broken_.store(true);
        }
        if (executor_ != nullptr) {
            store_relaxed(&control_->abort, AbortWord::make(reason.code(), rank_, rank_));
            peers_->interrupt(reason);
            executor_->interrupt();
        }
    }
    log(LogLevel::info, rank_, "{}: {}", baton_result_name(reason.code()), reason.what());
}

std::shared_lock<std::shared_mutex> Breakage::against_teardown(Caller caller) const {
    return caller == Caller::call_or_operation ? std::shared_lock<std::shared_mutex>() : std::shared_lock(teardown_);
}

/// What this rank's waiters have recorded, else what another rank has posted. None before open() and after forget().
std::optional<Breakage::News> Breakage::find(Caller caller) const noexcept {
    const std::shared_lock lock = against_teardown(caller);
    if (control_ == nullptr) return std::nullopt;
    if (load_acquire(&control_->recorded) != 0) return News{failure_of(control_->record, rank_, timeout_), true};
    for (int rank = 0; rank < size_; ++rank) {
        if (rank == rank_) continue;
        if (const auto theirs = peers_->error_of(rank)) return News{*theirs, false};
    }
    return std::nullopt;
}

/// Control::seen; 0 before open() and after forget().
std::uint64_t Breakage::seen_abort(Caller caller) const {
    const std::shared_lock lock = against_teardown(caller);
    return control_ == nullptr ? 0 : load_relaxed(&control_->seen);
}

void Breakage::catch_up(Caller caller) noexcept {
    if (broken_.load(std::memory_order_relaxed)) return;
    if (std::optional<News> news = find(caller)) take_over(*news);
}

void Breakage::throw_if_broken(Caller caller) {
    catch_up(caller);
    const std::uint64_t seen = seen_abort(caller);
    if (seen != 0 && !broken_.load()) {
        const auto until = std::chrono::steady_clock::now() + patience_for_text;
        while (!broken_.load() && std::chrono::steady_clock::now() < until) {
            catch_up(caller);
            std::this_thread::yield();
        }
        const int reporter = AbortWord::reporter(seen), culprit = AbortWord::culprit(seen);
        const auto code = static_cast<baton_result>(AbortWord::code(seen));
        take_over({reporter == culprit
                       ? failure_of(code, "rank {} gave up", reporter)
                       : failure_of(code, "rank {} gave up in an operation with rank {}", reporter, culprit),
                   false});
    }
    if (broken_.load()) throw_reason();
}

void Breakage::require_working(Caller caller) {
    require_open();
    throw_if_broken(caller);
}

void Breakage::throw_reason() const {
    const std::lock_guard lock(mutex_);
    throw Failure(*reason_);
}

void Breakage::tick() {
    if (!open_.load(std::memory_order_acquire)) return;
    catch_up(Caller::any_thread);
    std::optional<Executor::OverdueWait> wait;
    {
        const std::shared_lock lock(teardown_);
        if (executor_ == nullptr) return;
        if (broken_.load()) return executor_->interrupt();
        wait = executor_->overdue();
    }
    if (!wait) return;
    break_with(failure_of(BATON_ERR_TIMEOUT,
                          "rank {} waited {:g} s for rank {} in a zero-SM operation, for {}; a rank that is only slow "
                          "needs a larger timeout (BATON_TIMEOUT)",
                          rank_, std::chrono::duration<double>(timeout_).count(), wait->peer, text_of(wait->wait_for)));
}

}  // namespace baton::core
