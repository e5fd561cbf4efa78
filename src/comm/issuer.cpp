#include "comm/issuer.hpp"

#include <exception>
#include <optional>

#include "memory/reclaimer.hpp"

namespace baton::core {
namespace {

/// Runs what a call still has to do on this rank behind its operation. The peers know of the operation by then, so a
/// failure leaves the call half done. Not so in a capture: nothing has run there, and the failure has ended it, or its
/// graph is to be dropped.
template <class Rest>
void follow(bool captured, const Rest &rest) {
    try {
        rest();
    } catch (const std::exception &failure) {
        if (captured) throw;
        throw PartlyEnqueued(as_failure(failure));
    }
}

Signature signature_of(const Request &request) {
    const bool message = is_message(request.operation);
    // Both sides of a message sign as a send.
    Signature signature = Signature::make(message ? BATON_SEND : request.operation, request.type,
                                          message ? 0 : request.op, request.count, request.root);
    if (request.operation == BATON_RECV) signature.what |= Signature::receiving;
    return signature;
}

}  // namespace

Issuer::Reachable Issuer::make_reachable(const PlannedCall &call, Buffers::Use &use, void *stream) {
    const Request &request = call.request;
    Reachable made{{}, request.send, request.recv};
    Arrival &arrival = made.arrival;
    arrival.signature = signature_of(request);
    if (!call.has_peers()) return made;
    const Buffers &buffers = *parts_.buffers;
    if (call.peers_touch_send()) {
        const Buffers::Reached reached = use.reach(request.send, request.send_info, call.send_bytes());
        arrival.send = reached.ref;
        if (reached.pointer != request.send) {
            parts_.executor->local_copy(reached.pointer, request.send, call.send_bytes(), stream);
            made.send = reached.pointer;
        }
    }
    if (call.peers_touch_recv()) {
        const Buffers::Reached reached =
            use.reach(request.recv, request.recv_info, call.recv_bytes(), call.stages_recv());
        arrival.recv = reached.ref;
        made.recv = reached.pointer;
    }
    if (call.peer_may_help()) arrival.recv = buffers.at_hand(request.recv, request.recv_info, call.recv_bytes());
    if (call.is_root_in_place()) arrival.recv = arrival.send;
    if (planner_.skips_staging_if_mapped(call)) {
        Plan straight = call.plan;
        straight.algorithm = algorithm_without_staging(request.operation);
        const PlannedCall instead(request, straight, call.rank, call.size);
        if (instead.peers_touch_send())
            arrival.send = buffers.mapped(request.send, request.send_info, call.send_bytes());
        // A broadcast's root whose buffer is mapped copies nothing for others, so their buffers need no names.
        if (instead.peers_touch_recv() || (request.operation == BATON_RECV && instead.peer_may_help()))
            arrival.recv = buffers.mapped(request.recv, request.recv_info, call.recv_bytes());
    }
    return made;
}

template <class Body>
void Issuer::guard(const Body &body) {
    parts_.registry->retire_dropped();
    if (parts_.peers->has_retired()) Reclaimer::of_process().unmap_if_idle();
    const auto issuing = Reclaimer::of_process().issue();
    try {
        body();
    } catch (const PartlyEnqueued &failure) {
        breakage_.break_with(failure);
        throw;
    } catch (const std::exception &exception) {
        const Failure failure = as_failure(exception);
        const baton_result code = failure.code();
        if (code == BATON_ERR_MISMATCH || code == BATON_ERR_TIMEOUT || code == BATON_ERR_PEER_DEAD)
            breakage_.break_with(failure);
        // If memory can no longer be made known, later calls would all fail, on this rank alone.
        if (const std::optional<Failure> interruption = parts_.peers->interruption())
            breakage_.break_with(*interruption);
        throw;
    }
}

void Issuer::require_runnable(const Request &request) const {
    // Only long staged messages can be refused, so short ones need not be planned twice.
    const std::uint64_t piece = parts_.view.layout.message_staged;
    if (is_message(request.operation) && (piece == 0 || request.bytes <= piece)) return;
    static_cast<void>(planner_.plan(request));
}

void Issuer::run(const Request &request, void *stream) {
    guard([&] { issue(request, stream); });
}

void Issuer::run_messages(std::span<const Request> requests, void *stream) {
    guard([&] { issue_messages(requests, stream); });
}

void Issuer::run_one_sided(const std::function<void(Executor &)> &work) {
    guard([&] { work(*parts_.executor); });
}

void Issuer::run_local(const std::function<void()> &work) { guard(work); }

/// If a call in place would write over input that is still needed, replaces one of its buffers by scratch. Peers know
/// nothing of that.
void Issuer::use_scratch(const PlannedCall &call, CollectiveArgs &args, Buffers::Use &use, void *stream) {
    const Request &request = call.request;
    if (request.send != request.recv || request.bytes == 0 || call.size == 1) return;
    if (call.makes_result_apart()) {
        args.recv = use.scratch(call.recv_bytes());
        args.arrival.recv = {};
    }
    if (call.copies_input() && args.send == args.recv) {
        std::byte *input = use.scratch(call.send_bytes());
        parts_.executor->local_copy(input, args.send, call.send_bytes(), stream);
        args.send = input;
    }
}

void Issuer::issue(const Request &request, void *stream) {
    const PlannedCall call = planner_.plan(request);
    Buffers::Use use(*parts_.buffers);
    CollectiveArgs args;
    const Reachable made = make_reachable(call, use, stream);
    args.arrival = made.arrival;
    args.send = made.send;
    args.recv = made.recv;
    args.bytes = request.bytes;
    args.op = request.op;
    args.root = request.root;
    use_scratch(call, args, use, stream);
    if (args.recv == request.recv) return parts_.executor->collective(request, call.plan, args, stream);
    // In zero-SM mode the hosts meet in a capture too, so the peers know of the operation.
    const bool captured = parts_.executor->captures(stream) && !call.plan.stream_words;
    parts_.executor->collective(request, call.plan, args, stream);
    follow(captured, [&] { parts_.executor->local_copy(request.recv, args.recv, call.recv_bytes(), stream); });
}

void Issuer::issue_messages(std::span<const Request> requests, void *stream) {
    Buffers::Use use(*parts_.buffers);
    std::vector<MessageCall> calls;
    struct CopyOut {
        std::byte *destination;
        const std::byte *source;
        std::uint64_t bytes;
    };
    std::vector<CopyOut> copies;
    calls.reserve(requests.size());
    for (const Request &request : requests) {
        const PlannedCall planned = planner_.plan(request);
        MessageCall call;
        call.plan = planned.plan;
        const Reachable made = make_reachable(planned, use, stream);
        call.message.arrival = made.arrival;
        call.message.is_send = request.operation == BATON_SEND;
        if (call.message.is_send && call.message.arrival.send.is_in_region() &&
            goes_through_staging(call.plan.algorithm))
            call.plan.algorithm = algorithm_without_staging(BATON_SEND);  // the header says so
        call.message.buffer = call.message.is_send ? const_cast<std::byte *>(made.send) : made.recv;
        call.message.bytes = request.bytes;
        call.message.peer = request.peer;
        if (!call.message.is_send && made.recv != request.recv)
            copies.push_back({request.recv, made.recv, request.bytes});
        calls.push_back(std::move(call));
    }
    const bool captured = !copies.empty() && parts_.executor->captures(stream);
    parts_.executor->messages(std::move(calls), stream);
    follow(captured, [&] {
        for (const CopyOut &copy : copies)
            parts_.executor->local_copy(copy.destination, copy.source, copy.bytes, stream);
    });
}

}  // namespace baton::core
