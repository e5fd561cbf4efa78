#include "comm/communicator.hpp"

#include <thread>

#include "util/log.hpp"

namespace baton::core {
namespace {

/// How long a caller waits for the words of the rank that found an error, before it reports the bare fact.
constexpr auto patience_for_text = std::chrono::milliseconds(500);

std::string signature_text(const Signature &signature) {
    const auto operation = static_cast<baton_operation>(signature.operation());
    const char *name = baton_operation_name(signature.receives() ? BATON_RECV : operation);
    if (operation == BATON_BARRIER) return name;
    std::string text = fmt::format("{}(count {}, {}", name, signature.count,
                                   baton_type_name(static_cast<baton_type>(signature.type())));
    if (operation == BATON_REDUCE_SCATTER || operation == BATON_ALLREDUCE) {
        text += fmt::format(", {}", baton_op_name(static_cast<baton_op>(signature.op())));
    }
    if (operation == BATON_BROADCAST) text += fmt::format(", root {}", signature.root());
    return text + ")";
}

const char *wait_text(WaitFor wait_for) {
    switch (wait_for) {
        case WaitFor::arrival:
            return "its arrival";
        case WaitFor::data:
            return "its data";
        case WaitFor::done:
            return "its part";
        case WaitFor::credit:
            return "it to take staged data";
        case WaitFor::reply:
            return "its matching call";
        case WaitFor::header:
            return "its message";
        case WaitFor::taken:
            return "it to take a message's pieces";
        case WaitFor::consumed:
            return "it to receive earlier messages (the queue is full)";
        case WaitFor::signal:
            return "its signal";
    }
    return "it";
}

}  // namespace

std::string Communicator::describe_record(const ErrorRecord &record) const {
    const std::string mine = signature_text(record.point.mine);
    switch (static_cast<baton_result>(record.code)) {
        case BATON_ERR_MISMATCH:
            return fmt::format("ranks {} and {} disagree: rank {} called {}, rank {} called {} (operation {})",
                               view_.rank, record.point.peer, view_.rank, mine, record.point.peer,
                               signature_text(record.theirs), record.point.epoch);
        case BATON_ERR_TIMEOUT:
            return fmt::format(
                "rank {} waited {:g} s for rank {} in {}, for {} (operation {}, channel {}); a rank that is only "
                "slow needs a larger timeout (BATON_TIMEOUT)",
                view_.rank, static_cast<double>(view_.timeout_ns) * 1e-9, record.point.peer, mine,
                wait_text(record.point.wait_for), record.point.epoch, record.point.channel);
        case BATON_ERR_PEER_DEAD:
            return fmt::format("rank {} has died: its memory is gone (rank {} in {})", record.point.peer, view_.rank,
                               mine);
        case BATON_ERR_SYSTEM:
            return fmt::format("rank {} could not reach the buffer of rank {} in {}: it has been freed or is protected",
                               view_.rank, record.point.peer, mine);
        case BATON_ERR_MEMORY:
            return fmt::format("rank {} ran out of host memory in an operation on a host stream", view_.rank);
        default:
            return fmt::format(
                "rank {} found the region of rank {} gone in {} (operation {}): a graph was replayed after its buffer "
                "had been freed, or this is a defect of Baton",
                view_.rank, record.point.peer, mine, record.point.epoch);
    }
}

void Communicator::break_with(baton_result code, const std::string &text, bool tell_others) {
    {
        const std::lock_guard lock(state_mutex_);
        if (broken_code_ != BATON_SUCCESS) return;
        broken_code_ = code;
        broken_text_ = text;
        broken_.store(true);
    }
    log(LogLevel::info, view_.rank, "{}: {}", baton_result_name(code), text);
    const std::shared_lock lock(teardown_mutex_);
    if (!ready_.load(std::memory_order_acquire)) return;
    if (tell_others) peers_->post_error(code, text);
    store_relaxed(&control_->abort, AbortWord::make(code, view_.rank, view_.rank));
    peers_->interrupt(code, text);
    executor_->interrupt();
}

/// From the service thread, ten times a second.
void Communicator::on_tick() {
    if (!ready_.load(std::memory_order_acquire)) return;
    look_for_errors(Turn::none);
    std::optional<Executor::OverdueWait> wait;
    {
        const std::shared_lock lock(teardown_mutex_);
        if (!ready_.load(std::memory_order_acquire)) return;
        if (broken_.load()) return executor_->interrupt();
        wait = executor_->overdue();
    }
    if (!wait) return;
    break_with(
        BATON_ERR_TIMEOUT,
        fmt::format("rank {} waited {:g} s for rank {} in a zero-SM operation, for {}; a rank that is only "
                    "slow needs a larger timeout (BATON_TIMEOUT)",
                    view_.rank, static_cast<double>(view_.timeout_ns) * 1e-9, wait->peer, wait_text(wait->wait_for)),
        true);
}

std::shared_lock<std::shared_mutex> Communicator::against_teardown(Turn turn) const {
    return turn == Turn::taken ? std::shared_lock<std::shared_mutex>() : std::shared_lock(teardown_mutex_);
}

/// What this rank's waiters have recorded, or else another rank has posted. Nothing once shut_down() has freed both.
std::optional<Communicator::News> Communicator::find_error(Turn turn) const {
    const std::shared_lock lock = against_teardown(turn);
    if (control_ == nullptr) return std::nullopt;
    if (load_acquire(&control_->recorded) != 0) {
        const ErrorRecord record = control_->record;
        return News{static_cast<baton_result>(record.code), describe_record(record), true};
    }
    News news{.code = BATON_SUCCESS, .text = {}, .first = false};
    for (int rank = 0; rank < view_.size; ++rank) {
        if (rank != view_.rank && peers_->error_of(rank, &news.code, &news.text)) return news;
    }
    return std::nullopt;
}

/// Control::seen; 0 once that is freed.
std::uint64_t Communicator::seen_abort(Turn turn) const {
    const std::shared_lock lock = against_teardown(turn);
    return control_ == nullptr ? 0 : load_relaxed(&control_->seen);
}

/// From the service thread, calls and state queries. The first rank to find an error posts its words; the others take
/// them over.
void Communicator::look_for_errors(Turn turn) {
    if (broken_.load(std::memory_order_relaxed)) return;
    if (const std::optional<News> news = find_error(turn)) break_with(news->code, news->text, news->first);
}

std::unique_lock<std::mutex> Communicator::turn() {
    std::unique_lock lock(mutex_);
    throw_if_broken_in_turn();
    return lock;
}

std::unique_lock<std::mutex> Communicator::turn_unless_destroyed() {
    std::unique_lock lock(mutex_);
    require_alive();
    return lock;
}

void Communicator::require_alive() const {
    if (!ready_.load(std::memory_order_acquire)) fail(BATON_ERR_ARGUMENT, "comm has been destroyed");
}

void Communicator::throw_if_broken() {
    require_alive();
    throw_breakage_if_any(Turn::none);
}
void Communicator::throw_if_broken_in_turn() {
    require_alive();
    throw_breakage_if_any(Turn::taken);
}

void Communicator::throw_breakage_if_any(Turn turn) {
    look_for_errors(turn);
    const std::uint64_t seen = seen_abort(turn);
    if (seen != 0 && !broken_.load()) {
        const auto until = std::chrono::steady_clock::now() + patience_for_text;
        while (!broken_.load() && std::chrono::steady_clock::now() < until) {
            look_for_errors(turn);
            std::this_thread::yield();
        }
        const auto code = static_cast<baton_result>(AbortWord::code(seen));
        break_with(code,
                   fmt::format("rank {} gave up in an operation with rank {}", AbortWord::reporter(seen),
                               AbortWord::culprit(seen)),
                   false);
    }
    if (broken_.load()) throw_breakage();
}

void Communicator::throw_breakage() {
    const std::lock_guard lock(state_mutex_);
    throw Failure(broken_code_, broken_text_);
}

void Communicator::give_up_after(const std::exception &failure) {
    const Failure known = as_failure(failure);
    break_with(known.code(), known.what(), true);
}

void Communicator::abort() {
    break_with(BATON_ERR_ABORTED, fmt::format("rank {} called baton_comm_abort()", view_.rank), true);
}

}  // namespace baton::core
