#include "comm/planner.hpp"

#include "comm/links_of.hpp"

namespace baton::core {
namespace {

/// A call that is only asked about. It names no root: the answer holds for the ranks that are not.
Request request_of(baton_operation operation, std::uint64_t count, baton_type type, baton_op op, int size) {
    Request request;
    request.operation = operation;
    request.type = type;
    request.op = op;
    request.count = count;
    request.bytes = bytes_of(count, type, 1);
    request.root = -1;
    // The call itself would refuse blocks whose total overflows.
    if (operation == BATON_ALLGATHER || operation == BATON_REDUCE_SCATTER || operation == BATON_ALLTOALL)
        bytes_of(count, type, size);
    return request;
}

std::string in_place_text(const PlannedCall &call, const void *send, const void *recv) {
    const bool reduce_scatter = call.request.operation == BATON_REDUCE_SCATTER;
    // In a reduce_scatter equal pointers are in place on rank 0 only.
    const bool in_place = send != nullptr && (send == BATON_IN_PLACE || (send == recv && !reduce_scatter));
    if (!in_place || call.size == 1) return "";
    const char *const what = reduce_scatter ? "block" : "buffer";
    std::string text;
    if (call.makes_result_apart()) text += fmt::format("in place: received in a copy of the {}\n", what);
    if (call.copies_input()) text += fmt::format("in place: sent from a copy of the {}\n", what);
    return text;
}

}  // namespace

PlannedCall Planner::plan(const Request &request) const {
    const PlannedCall call(request, select(request, parts_.capabilities), parts_.view.rank, parts_.view.size);
    constexpr std::uint64_t most = (std::uint64_t{1} << step_bits) - 1;
    // A channel's pieces of a staged message are numbered like steps; two of them fill its part of a staging buffer.
    if (is_message(request.operation) && goes_through_staging(call.plan.algorithm) &&
        request.bytes / parts_.capabilities.message_staged_bytes >= most / 2 - 1) {
        fail(BATON_ERR_UNSUPPORTED,
             "a message of {} bytes through staging takes more than {} pieces; make several of it", request.bytes,
             most);
    }
    if (!is_collective(request.operation) || !call.has_peers()) return call;
    const std::uint64_t segment = parts_.capabilities.segment_bytes;
    if (call.most_steps(segment) > most) {
        const bool by_segment = !is_pipeline(call.plan.algorithm);
        fail(BATON_ERR_UNSUPPORTED, "{} of {} bytes by {}{} takes more than {} steps; make several calls of it{}",
             baton_operation_name(request.operation), request.bytes, algorithm_name(call.plan.algorithm),
             by_segment ? fmt::format(" in segments of {}", segment) : "", most,
             by_segment ? ", or BATON_SEGMENT larger" : "");
    }
    return call;
}

Plan Planner::plan(baton_operation operation, std::uint64_t count, baton_type type, baton_op op) const {
    return plan(request_of(operation, count, type, op, parts_.view.size)).plan;
}

bool Planner::skips_staging_if_mapped(const PlannedCall &call) const {
    if (parts_.capabilities.on_gpu || parts_.stages_mapped) return false;
    // An alltoall in place would be read while it is written, and ranks need not agree on being in place.
    return goes_through_staging(call.plan.algorithm) && call.request.operation != BATON_ALLTOALL;
}

std::string Planner::explain(baton_operation operation, std::uint64_t count, baton_type type, baton_op op,
                             const void *send, const void *recv) const {
    const Capabilities &capabilities = parts_.capabilities;
    const int size = parts_.view.size;
    const Request request = request_of(operation, count, type, op, size);
    if (operation == BATON_SIGNAL || operation == BATON_WAIT_SIGNAL) {
        return fmt::format("{} by {}: one word in the peer's memory\n", baton_operation_name(operation),
                           capabilities.on_gpu ? "kernel" : "host");
    }
    const PlannedCall call = plan(request);
    const Plan &how = call.plan;
    std::string text = describe(how, request, capabilities) + "\n" + baton_operation_name(operation);
    if (operation != BATON_BARRIER)
        text += fmt::format(" of {} {} ({} bytes)", count, baton_type_name(type), request.bytes);
    text += fmt::format(", {} rank{}\n", size, size == 1 ? "" : "s");
    if (goes_through_staging(how.algorithm) && is_collective(operation))
        text += fmt::format("segments of {} bytes\n", capabilities.segment_bytes);
    const bool goes_elsewhere = capabilities.on_gpu || goes_through_staging(how.algorithm);
    if (!capabilities.reaches_buffers && how.reason != Reason::reach && goes_elsewhere)
        text += capabilities.reach_reason + "\n";
    if (size > 1 && skips_staging_if_mapped(call))
        text += "memory of baton_malloc and windows is copied straight where all ranks have it mapped\n";
    if (size > 1) text += fmt::format("links are {}\n", core::describe(capabilities.links));
    return text + buffers_text(call, send, recv) + in_place_text(call, send, recv);
}

std::string Planner::buffers_text(const PlannedCall &call, const void *send, const void *recv) const {
    std::string text;
    if (call.peers_touch_send() && send != nullptr && send != BATON_IN_PLACE)
        text += "sendbuf: " + parts_.buffers->describe(send, call.send_bytes()) + "\n";
    if (call.peers_touch_recv() && recv != nullptr)
        text += "recvbuf: " + parts_.buffers->describe(recv, call.recv_bytes(), call.stages_recv()) + "\n";
    return text;
}

}  // namespace baton::core
