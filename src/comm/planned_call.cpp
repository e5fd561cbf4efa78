#include "comm/planned_call.hpp"

#include "collectives/broadcast/pipeline.hpp"
#include "collectives/broadcast/pipeline_line.hpp"
#include "collectives/broadcast/pull.hpp"
#include "collectives/tuning.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/element/reduce.hpp"

namespace baton::core {
namespace {

bool reads_blocks(baton_operation operation) {
    return operation == BATON_REDUCE_SCATTER || operation == BATON_ALLTOALL;
}
bool writes_blocks(baton_operation operation) { return operation == BATON_ALLGATHER || operation == BATON_ALLTOALL; }

}  // namespace

PlannedCall::PlannedCall(const Request &of, const Plan &by, int on_rank, int of_ranks)
    : request(of), plan(by), rank(on_rank), size(of_ranks), way_(way_by(of.operation, by.algorithm)) {}

std::uint64_t PlannedCall::send_bytes() const {
    return reads_blocks(request.operation) ? request.bytes * static_cast<std::uint64_t>(size) : request.bytes;
}
std::uint64_t PlannedCall::recv_bytes() const {
    return writes_blocks(request.operation) ? request.bytes * static_cast<std::uint64_t>(size) : request.bytes;
}

std::uint64_t PlannedCall::most_steps(std::uint64_t segment_bytes) const {
    const auto ranks = static_cast<std::uint64_t>(size);
    const std::uint64_t segments = request.bytes / segment_bytes + 1;
    if (goes_through_staging(plan.algorithm))  // one for an early part
        return request.operation == BATON_ALLREDUCE ? 2 * (segments / ranks + 2) : segments + 1;
    if (plan.algorithm == Algorithm::pipeline) return pipeline_steps(request.bytes, size);
    if (plan.algorithm == Algorithm::pipeline_line) return pipeline_line_steps(request.bytes, plan.channels);
    if (!is_routed(plan.algorithm) || request.operation == BATON_ALLGATHER) return ranks;
    // Accumulators may be wider than elements, and the steps of all blocks are counted together.
    const std::uint64_t widened =
        segments * dispatch_type(request.type, []<class T>() { return sizeof(Accumulator<T>) / sizeof(T); });
    return request.operation == BATON_ALLREDUCE ? widened + ranks : widened * ranks + 1;
}

bool PlannedCall::has_peers() const { return size > 1 || is_message(request.operation); }

bool PlannedCall::peers_touch_send() const {
    if (!has_peers() || request.operation == BATON_RECV) return false;
    if (request.operation == BATON_BROADCAST && request.root != rank) return false;
    return way_ != nullptr && touches_send(way_->touches);
}
bool PlannedCall::peers_touch_recv() const {
    if (!has_peers() || request.operation == BATON_SEND) return false;
    if (request.operation == BATON_BROADCAST && request.root == rank) return false;
    return way_ != nullptr && touches_recv(way_->touches);
}

bool PlannedCall::stages_recv() const { return way_ == nullptr || way_->needs_recv; }

bool PlannedCall::peer_may_help() const {
    if (!has_peers() || plan.algorithm != Algorithm::pull) return false;
    if (request.operation == BATON_RECV) return true;
    return request.operation == BATON_BROADCAST && request.root != rank &&
           copied_by_root(request.bytes, size, true) != 0;
}

bool PlannedCall::is_root_in_place() const {
    return has_peers() && plan.algorithm == Algorithm::pull && request.operation == BATON_BROADCAST &&
           request.root == rank && request.send == request.recv;
}

/// In a reduce_scatter rank 0's result goes over its own block, which nobody else reads.
bool PlannedCall::makes_result_apart() const {
    if (request.operation == BATON_REDUCE_SCATTER && rank == 0) return false;
    return way_ != nullptr && way_->in_place == InPlace::result_apart;
}
bool PlannedCall::copies_input() const { return way_ != nullptr && way_->in_place == InPlace::input_copied; }

}  // namespace baton::core
