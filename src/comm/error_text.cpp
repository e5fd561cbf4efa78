#include "comm/error_text.hpp"

#include "collectives/signature_text.hpp"

namespace baton::core {
namespace {

/// The remedy where a message's sender waits for its receiver: two ranks that both send first wait for each other.
const char *remedy_of(WaitFor wait_for) {
    const bool sender_waits = wait_for == WaitFor::reply || wait_for == WaitFor::consumed;
    return sender_waits ? "ranks that send to each other before they receive need baton_sendrecv or a group; " : "";
}

/// "operation 7". Messages and signals are counted separately.
std::string counted(const OperationPoint &point) {
    switch (point.mine.operation()) {
        case BATON_SEND:
        case BATON_RECV:
            return fmt::format("message {}", point.epoch);
        case BATON_WAIT_SIGNAL:
            return fmt::format("signal {}", point.epoch);
        default:
            return fmt::format("operation {}", point.epoch);
    }
}

/// A rank that waits for all others records itself once all have arrived: it does not know which of them is stuck.
std::string waited_for(const OperationPoint &point, int rank) {
    const int operation = point.mine.operation();
    const bool may_be_itself = operation == BATON_SEND || operation == BATON_RECV || operation == BATON_WAIT_SIGNAL;
    return point.peer == rank && !may_be_itself ? "one of the others" : fmt::format("rank {}", point.peer);
}

std::string error_text(const ErrorRecord &record, int rank, std::chrono::nanoseconds timeout) {
    const std::string mine = signature_text(record.point.mine);
    switch (static_cast<baton_result>(record.code)) {
        case BATON_ERR_MISMATCH:
            return fmt::format("ranks {} and {} disagree: rank {} called {}, rank {} called {} ({})", rank,
                               record.point.peer, rank, mine, record.point.peer, signature_text(record.theirs),
                               counted(record.point));
        case BATON_ERR_TIMEOUT:
            return fmt::format(
                "rank {} waited {:g} s for {} in {}, for {} ({}, channel {}); {}a rank that is only "
                "slow needs a larger timeout (BATON_TIMEOUT)",
                rank, std::chrono::duration<double>(timeout).count(), waited_for(record.point, rank), mine,
                text_of(record.point.wait_for), counted(record.point), record.point.channel,
                remedy_of(record.point.wait_for));
        case BATON_ERR_PEER_DEAD:
            return fmt::format("rank {} has died: its memory is gone (rank {} in {})", record.point.peer, rank, mine);
        case BATON_ERR_SYSTEM:
            return fmt::format(
                "rank {} could not copy between its buffer and that of rank {} in {}: one of the two has been freed, "
                "has a hole or is protected, or the system no longer lets the processes copy (one has changed its "
                "user, or has too many open files)",
                rank, record.point.peer, mine);
        case BATON_ERR_MEMORY:
            return fmt::format("rank {} ran out of host memory in an operation", rank);
        default:
            return fmt::format(
                "rank {} found the region of rank {} gone in {} ({}): a graph was replayed after its buffer "
                "had been freed, or this is a defect of Baton",
                rank, record.point.peer, mine, counted(record.point));
    }
}

}  // namespace

const char *text_of(WaitFor wait_for) {
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
            return "it to receive earlier messages, of which its queue is full";
        case WaitFor::signal:
            return "its signal";
    }
    return "it";
}

Failure failure_of(const ErrorRecord &record, int rank, std::chrono::nanoseconds timeout) noexcept {
    return failure_saying(static_cast<baton_result>(record.code), [&] { return error_text(record, rank, timeout); });
}

}  // namespace baton::core
