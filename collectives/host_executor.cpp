#include "collectives/host_executor.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "collectives/algorithms.hpp"
#include "collectives/p2p/algorithms.hpp"
#include "sync/signals.hpp"
#include "sync/wait.hpp"
#include "transport/host/engine.hpp"
#include "transport/host/message_engine.hpp"
#include "util/ieee_arithmetic.hpp"

namespace baton::core {
namespace {

/// Whether every rank has named its buffers for algorithm_without_staging(), in memory that all have mapped
/// (comm/issuer.cpp says when they do). All ranks find the same, from the same arrivals.
bool all_are_mapped(const HostEngine &engine, baton_operation operation, const CollectiveArgs &args) {
    const auto is_mapped = [&](int rank) {
        const Arrival said = rank == engine.rank() ? args.arrival : engine.arrival_of(rank);
        return said.send.is_in_region() && (operation != BATON_ALLREDUCE || said.recv.is_in_region());
    };
    if (operation == BATON_BROADCAST) return is_mapped(args.root);
    for (int rank = 0; rank < engine.size(); ++rank) {
        if (!is_mapped(rank)) return false;
    }
    return true;
}

/// Runs a staged operation without staging where it can.
void run_staged(HostEngine &engine, baton_operation operation, baton_type type, const RoutedArgs &args) {
    if (!engine.meet(args.arrival)) return;
    const Algorithm algorithm =
        all_are_mapped(engine, operation, args) ? algorithm_without_staging(operation) : Algorithm::staged;
    run_collective<Mover::host>(engine, operation, algorithm, type, args);
}

/// A message under way.
class RunningMessage {
public:
    RunningMessage(const CommView &view, const HostReach &reach, const MessageCall &call, std::uint64_t &moves,
                   bool has_no_sends)
        : message_(call.message),
          algorithm_(call.plan.algorithm),
          engine_(view, reach, message_.arrival, message_.peer, message_.number, moves, has_no_sends) {}

    /// Goes as far as it can now; true when the message is done or has failed.
    bool advance() {
        if (!message_.is_send && goes_through_staging(algorithm_) && !take_header()) return engine_.failed();
        return run<Algorithm::packet, Algorithm::line, Algorithm::push, Algorithm::pull, Algorithm::staged>() ||
               engine_.failed();
    }
    bool waits_long(std::size_t waits) const { return engine_.waits_long(waits); }

private:
    template <Algorithm... ways>
    bool run() {
        return ((algorithm_ == ways && run_message<ways>(engine_, message_, progress_)) || ...);
    }

    /// Whether the header is there. A sender whose buffer is mapped here names it there instead of staging its data.
    bool take_header() {
        if (progress_.begun) return true;
        MessageInbox *const in = engine_.own().inbox(message_.peer, message_.slot());
        HostRemote named{};
        if (!engine_.compare_line(&in->header, WaitFor::header, &named)) return false;
        if (named.address != nullptr) algorithm_ = algorithm_without_staging(BATON_RECV);
        return true;
    }

    const Message &message_;
    Algorithm algorithm_;
    HostMessageEngine engine_;
    MessageProgress progress_;
};

}  // namespace

HostExecutor::HostExecutor(const CommView &view, HostReach reach, const Route &route,
                           std::function<void()> throw_if_broken)
    : view_(view),
      reach_(std::move(reach)),
      scratch_(view.size),
      route_(route),
      throw_if_broken_(std::move(throw_if_broken)),
      sent_(static_cast<std::size_t>(view.size)),
      received_(static_cast<std::size_t>(view.size)),
      moves_(static_cast<std::size_t>(view.size)) {}

HostExecutor::~HostExecutor() { order_.drain(); }

template <class Work>
void HostExecutor::submit(void *stream, Work work) {
    const auto in_turn = [this](std::uint64_t ticket, Work &operation) {
        // All inside the turn: until it has passed, the communicator is not destroyed.
        order_.run(ticket, [&] {
            try {
                operation();
            } catch (const std::bad_alloc &) {  // an operation throws no other; the peers may be in it
                OperationPoint point;
                point.peer = view_.rank;
                give_up(view_, BATON_ERR_MEMORY, point);
            }
            throw_if_broken_();
        });
    };
    if (stream == nullptr) return in_turn(order_.issue([](std::uint64_t) {}), work);
    // If there is no memory for it in the queue, it has not been issued.
    order_.issue([&](std::uint64_t ticket) {
        static_cast<HostStream *>(stream)->enqueue(
            [in_turn, ticket, operation = std::move(work)]() mutable { in_turn(ticket, operation); });
    });
}

void HostExecutor::collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) {
    submit(stream, [this, operation = request.operation, type = request.type, algorithm = plan.algorithm, args] {
        const IeeeArithmetic arithmetic;
        HostEngine engine(view_, reach_, scratch_);
        if (goes_through_staging(algorithm)) return run_staged(engine, operation, type, {args, route_});
        run_collective<Mover::host>(engine, operation, algorithm, type, {args, route_});
    });
}

void HostExecutor::messages(std::vector<MessageCall> calls, void *stream) {
    submit(stream, [this, calls = std::move(calls)]() mutable { run_messages(calls); });
}

/// Runs all of them on this thread, in turns. None may block: each may have to wait for any of the others, here or on
/// its peer.
void HostExecutor::run_messages(std::vector<MessageCall> &calls) {
    for (MessageCall &call : calls) {
        auto &numbers = call.message.is_send ? sent_ : received_;
        call.message.number = ++numbers[static_cast<std::size_t>(call.message.peer)];
    }
    std::vector<RunningMessage> messages;
    std::vector<RunningMessage *> running;
    messages.reserve(calls.size());
    running.reserve(calls.size());
    const bool has_no_sends =
        std::none_of(calls.begin(), calls.end(), [](const MessageCall &call) { return call.message.is_send; });
    for (const MessageCall &call : calls) {
        std::uint64_t &moves = moves_[static_cast<std::size_t>(call.message.peer)];
        running.push_back(&messages.emplace_back(view_, reach_, call, moves, has_no_sends));
    }
    std::uint32_t polls = 0;
    while (!running.empty()) {
        std::erase_if(running, [&](RunningMessage *message) {
            const bool ended = message->advance();
            if (!ended) relax_between_polls(++polls, view_.polls_between_yields);
            return ended;
        });
        const bool all_wait_long = std::all_of(running.begin(), running.end(), [&](const RunningMessage *message) {
            return message->waits_long(running.size());
        });
        if (all_wait_long && !running.empty()) rest();
    }
}

void HostExecutor::transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan & /*plan*/,
                            void *stream) {
    local_copy(destination, source, bytes, stream);
}

void HostExecutor::local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) {
    submit(stream, [this, destination, source, bytes] {
        if (may_begin(view_) && bytes > 0) std::memmove(destination, source, bytes);
    });
}

void HostExecutor::signal(int window, int target, void *stream) {
    submit(stream, [this, window, target] {
        if (may_begin(view_)) give_signal(view_, window, target);
    });
}

void HostExecutor::wait_signal(int window, int source, std::uint64_t signals, void *stream) {
    submit(stream, [this, window, source, signals] { take_signals(view_, window, source, signals); });
}

}  // namespace baton::core
