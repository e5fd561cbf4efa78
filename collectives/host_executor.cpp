#include "collectives/host_executor.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "collectives/allgather/line.hpp"
#include "collectives/allgather/packet.hpp"
#include "collectives/allgather/pull.hpp"
#include "collectives/allgather/push.hpp"
#include "collectives/allgather/ring.hpp"
#include "collectives/allgather/staged.hpp"
#include "collectives/allgather/two_level.hpp"
#include "collectives/allreduce/chain.hpp"
#include "collectives/allreduce/line.hpp"
#include "collectives/allreduce/one_shot.hpp"
#include "collectives/allreduce/pull.hpp"
#include "collectives/allreduce/staged.hpp"
#include "collectives/allreduce/two_shot.hpp"
#include "collectives/allreduce/two_shot_line.hpp"
#include "collectives/alltoall/line.hpp"
#include "collectives/alltoall/packet.hpp"
#include "collectives/alltoall/pull.hpp"
#include "collectives/alltoall/push.hpp"
#include "collectives/alltoall/staged.hpp"
#include "collectives/barrier/arrive.hpp"
#include "collectives/broadcast/line.hpp"
#include "collectives/broadcast/packet.hpp"
#include "collectives/broadcast/pull.hpp"
#include "collectives/broadcast/push.hpp"
#include "collectives/broadcast/staged.hpp"
#include "collectives/p2p/line.hpp"
#include "collectives/p2p/packet.hpp"
#include "collectives/p2p/pull.hpp"
#include "collectives/p2p/push.hpp"
#include "collectives/p2p/staged.hpp"
#include "collectives/reduce_scatter/line.hpp"
#include "collectives/reduce_scatter/packet.hpp"
#include "collectives/reduce_scatter/pull.hpp"
#include "collectives/reduce_scatter/ring.hpp"
#include "collectives/reduce_scatter/staged.hpp"
#include "collectives/reduce_scatter/two_level.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/host/engine.hpp"
#include "transport/host/message_engine.hpp"

namespace baton::core {
namespace {

void run_allgather(HostEngine &engine, Algorithm algorithm, const RoutedArgs &args) {
    switch (algorithm) {
        case Algorithm::packet:
            return allgather_packet(engine, args);
        case Algorithm::line:
            return allgather_line(engine, args);
        case Algorithm::push:
            return allgather_push(engine, args);
        case Algorithm::pull:
            return allgather_pull(engine, args);
        case Algorithm::ring:
            return AllgatherRing(engine, args).run();
        case Algorithm::two_level:
            return AllgatherTwoLevel(engine, args).run();
        default:
            return allgather_staged(engine, args);
    }
}

void run_alltoall(HostEngine &engine, Algorithm algorithm, const CollectiveArgs &args) {
    switch (algorithm) {
        case Algorithm::packet:
            return alltoall_packet(engine, args);
        case Algorithm::line:
            return alltoall_line(engine, args);
        case Algorithm::push:
            return alltoall_push(engine, args);
        case Algorithm::pull:
            return alltoall_pull(engine, args);
        default:
            return alltoall_staged(engine, args);
    }
}

void run_broadcast(HostEngine &engine, Algorithm algorithm, const CollectiveArgs &args) {
    switch (algorithm) {
        case Algorithm::packet:
            return broadcast_packet(engine, args);
        case Algorithm::line:
            return broadcast_line(engine, args);
        case Algorithm::push:
            return broadcast_push(engine, args);
        case Algorithm::pull:
            return broadcast_pull(engine, args);
        default:
            return broadcast_staged(engine, args);
    }
}

template <class T>
void run_reduce_scatter(HostEngine &engine, Algorithm algorithm, const RoutedArgs &args) {
    switch (algorithm) {
        case Algorithm::packet:
            return reduce_scatter_packet<T>(engine, args);
        case Algorithm::line:
            return reduce_scatter_line<T>(engine, args);
        case Algorithm::pull:
            return reduce_scatter_pull<T>(engine, args);
        case Algorithm::ring:
            return ReduceScatterRing<T, HostEngine>(engine, args).run();
        case Algorithm::two_level:
            return reduce_scatter_two_level<T>(engine, args);
        default:
            return reduce_scatter_staged<T>(engine, args);
    }
}

template <class T>
void run_allreduce(HostEngine &engine, Algorithm algorithm, const RoutedArgs &args) {
    switch (algorithm) {
        case Algorithm::packet:
            return allreduce_one_shot<T>(engine, args);
        case Algorithm::line:
            return allreduce_line<T>(engine, args);
        case Algorithm::two_shot:
            return allreduce_two_shot<T>(engine, args);
        case Algorithm::two_shot_line:
            return allreduce_two_shot_line<T>(engine, args);
        case Algorithm::pull:
            return allreduce_pull<T>(engine, args);
        case Algorithm::ring:
        case Algorithm::two_level:
            return AllreduceChain<T, HostEngine>(engine, args).run();
        default:
            return allreduce_staged<T>(engine, args);
    }
}

void run_collective(HostEngine &engine, baton_operation operation, baton_type type, Algorithm algorithm,
                    const RoutedArgs &args) {
    switch (operation) {
        case BATON_ALLGATHER:
            return run_allgather(engine, algorithm, args);
        case BATON_ALLTOALL:
            return run_alltoall(engine, algorithm, args);
        case BATON_BROADCAST:
            return run_broadcast(engine, algorithm, args);
        case BATON_REDUCE_SCATTER:
            return dispatch_type(type, [&]<class T>() { run_reduce_scatter<T>(engine, algorithm, args); });
        case BATON_ALLREDUCE:
            return dispatch_type(type, [&]<class T>() { run_allreduce<T>(engine, algorithm, args); });
        default:
            return barrier_arrive(engine, args);
    }
}

/// Whether every rank has named its buffers for straight_algorithm(), in memory that all have mapped: all ranks find
/// the same, from the same arrivals. (communicator_calls.cpp says when they do.)
bool all_are_mapped(const HostEngine &engine, baton_operation operation, const CollectiveArgs &args) {
    const auto is_mapped = [&](int rank) {
        if (rank == engine.rank()) {
            return args.arrival.send.is_in_region() &&
                   (operation != BATON_ALLREDUCE || args.arrival.recv.is_in_region());
        }
        const auto here = [](const HostRemote &remote) { return remote.process == 0 && remote.address != nullptr; };
        return here(engine.send_of(rank)) && (operation != BATON_ALLREDUCE || here(engine.recv_of(rank)));
    };
    if (operation == BATON_BROADCAST) return is_mapped(args.root);
    for (int rank = 0; rank < engine.size(); ++rank) {
        if (!is_mapped(rank)) return false;
    }
    return true;
}

/// What stages copies straight where it can.
void run_staged(HostEngine &engine, baton_operation operation, baton_type type, const RoutedArgs &args) {
    if (!engine.begin(args.arrival) || !engine.await_all()) return;
    const bool straight = all_are_mapped(engine, operation, args);
    run_collective(engine, operation, type, straight ? straight_algorithm(operation) : Algorithm::staged, args);
}

/// A message under way.
class RunningMessage {
public:
    RunningMessage(const CommView &view, const HostReach &reach, const MessageCall &call)
        : message_(call.message),
          algorithm_(call.plan.algorithm),
          engine_(view, reach, message_.arrival, message_.peer, message_.number) {}

    /// Goes as far as it can now; true when the message is done or has failed.
    bool advance() { return (message_.is_send ? send() : recv()) || engine_.failed(); }

private:
    bool send() {
        switch (algorithm_) {
            case Algorithm::pull:
                return send_pull(engine_, message_, progress_);
            case Algorithm::push:
                return send_push(engine_, message_, progress_);
            case Algorithm::line:
                return send_line(engine_, message_);
            case Algorithm::staged:
                return send_staged(engine_, message_, progress_);
            default:
                return send_packet(engine_, message_);
        }
    }
    bool recv() {
        if (algorithm_ == Algorithm::staged && !take_header()) return false;
        switch (algorithm_) {
            case Algorithm::pull:
                return recv_pull(engine_, message_, progress_);
            case Algorithm::push:
                return recv_push(engine_, message_, progress_);
            case Algorithm::line:
                return recv_line(engine_, message_);
            case Algorithm::staged:
                return recv_staged(engine_, message_, progress_);
            default:
                return recv_packet(engine_, message_);
        }
    }

    /// A sender whose buffer is mapped here names it instead of staging its data.
    bool take_header() {
        if (progress_.begun) return true;
        MessageInbox *const in = engine_.own().inbox(message_.peer, message_.slot());
        HostRemote named{};
        if (!engine_.compare_line(&in->header, WaitFor::header, &named)) return false;
        if (named.address != nullptr) algorithm_ = straight_algorithm(BATON_RECV);
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
      route_(route),
      throw_if_broken_(std::move(throw_if_broken)),
      sent_(static_cast<std::size_t>(view.size)),
      received_(static_cast<std::size_t>(view.size)) {}

HostExecutor::~HostExecutor() { order_.drain(); }

template <class Work>
void HostExecutor::submit(void *stream, Work work) {
    if (stream == nullptr) return order_.run(order_.issue([](std::uint64_t) {}), std::ref(work));
    const auto in_turn = [this](std::uint64_t ticket, Work &operation) {
        // All inside the turn: until it has passed, the communicator is not destroyed.
        order_.run(ticket, [&] {
            try {
                operation();
            } catch (const std::bad_alloc &) {  // the only exception of an operation; there is no caller to take it
                OperationPoint point;
                point.peer = view_.rank;
                give_up(view_, BATON_ERR_MEMORY, point);
            }
            throw_if_broken_();
        });
    };
    // If there is no memory for it in the queue, it has not been issued.
    order_.issue([&](std::uint64_t ticket) {
        static_cast<HostStream *>(stream)->enqueue(
            [in_turn, ticket, operation = std::move(work)]() mutable { in_turn(ticket, operation); });
    });
}

void HostExecutor::collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) {
    submit(stream, [this, operation = request.operation, type = request.type, algorithm = plan.algorithm, args] {
        HostEngine engine(view_, reach_);
        if (algorithm == Algorithm::staged) return run_staged(engine, operation, type, {args, route_});
        run_collective(engine, operation, type, algorithm, {args, route_});
    });
}

void HostExecutor::messages(std::vector<MessageCall> calls, void *stream) {
    submit(stream, [this, calls = std::move(calls)]() mutable { run_messages(calls); });
}

/// All of them on this thread, in turns: each may have to wait for any of the others, here or on its peer, and none
/// blocks.
void HostExecutor::run_messages(std::vector<MessageCall> &calls) {
    for (MessageCall &call : calls) {
        auto &numbers = call.message.is_send ? sent_ : received_;
        call.message.number = ++numbers[static_cast<std::size_t>(call.message.peer)];
    }
    std::vector<RunningMessage> messages;
    std::vector<RunningMessage *> running;
    messages.reserve(calls.size());
    running.reserve(calls.size());
    for (const MessageCall &call : calls) running.push_back(&messages.emplace_back(view_, reach_, call));
    std::uint32_t polls = 0;
    while (!running.empty()) {
        std::erase_if(running, [&](RunningMessage *message) {
            const bool ended = message->advance();
            if (!ended) relax_between_polls(++polls);
            return ended;
        });
    }
}

void HostExecutor::transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan & /*plan*/,
                            void *stream) {
    local_copy(destination, source, bytes, stream);
}

void HostExecutor::local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) {
    submit(stream, [this, destination, source, bytes] {
        if (!is_broken(view_) && bytes > 0) std::memmove(destination, source, bytes);
    });
}

void HostExecutor::signal(int window, int target, void *stream) {
    submit(stream, [this, window, target] {
        if (is_broken(view_)) return;
        std::uint64_t *given = view_.own_words().signals_given(window, target);
        store_release(view_.arena(target).signal_word(window, view_.rank), ++*given);
    });
}

void HostExecutor::wait_signal(int window, int source, std::uint64_t signals, void *stream) {
    submit(stream, [this, window, source, signals] {
        std::uint64_t *taken = view_.own_words().signals_taken(window, source);
        const std::uint64_t *word = view_.own().signal_word(window, source);
        const Signature mine = Signature::make(BATON_WAIT_SIGNAL, 0, 0, signals);
        const std::uint64_t until = *taken + signals;
        if (wait_until(view_, {source, 0, until, WaitFor::signal, mine}, word, until)) *taken = until;
    });
}

}  // namespace baton::core
