#include <algorithm>
#include <string_view>

#include "collectives/gpu_messages.hpp"
#include "collectives/launch_domain.hpp"
#include "collectives/message_launch.hpp"
#include "cuda/check.hpp"
#include "cuda/device.hpp"
#include "transport/kernel/launch.hpp"
#include "util/environment.hpp"

namespace baton::core {

namespace {

/// Whether launches return only when their kernels have ended. Then a kernel that waits for a peer's copy would keep
/// this rank's own copy, which is enqueued behind it, from ever starting, and the peer may be waiting for that.
bool launches_block() {
    static const char *const set = variable("CUDA_LAUNCH_BLOCKING");
    return set != nullptr && std::string_view(set) != "0";
}

}  // namespace

/// `direct`: the send whose head is among the calls, if there is one.
template <int capacity>
void GpuMessages::launch_kernel(const std::vector<MessageCall> &calls, DirectSend *direct, cudaStream_t stream) {
    MessageLaunch<capacity> planned = plan_launch<capacity>(calls, channels_, direct);
    const KernelChoice choice = message_kernel(capacity > few_messages, planned.only);
    void *arguments[] = {const_cast<CommView *>(&view_), &planned.batch};
    launch(choice.kernel, planned.blocks, choice.threads, arguments, domain_of(calls), stream,
           "launching sends and recvs");
}

/// Takes the send that a copy engine carries out of the calls, and leaves its head. One at most: its destination is
/// known, and no other send of the calls goes to its peer and shares the pair's count. A receiver need not know whether
/// its sender does it this way.
std::optional<DirectSend> GpuMessages::take_direct_send(std::vector<MessageCall> &calls, cudaStream_t stream) {
    const auto may_be = [&](const MessageCall &call) {
        return call.plan.mover == Mover::copy_engine && call.message.peer != view_.rank;
    };
    if (std::none_of(calls.begin(), calls.end(), may_be)) return std::nullopt;
    if (!addresses_.open_for_messages(is_capturing(stream))) return std::nullopt;
    const Traffic traffic = calls.size() == 1 ? Traffic::alone : Traffic::beside_others;
    for (const MessageCall &call : calls) {
        if (may_be(call) && !call.message.is_send) addresses_.tell_sender(call.message);
    }
    if (launches_block()) return std::nullopt;
    std::optional<DirectSend> found;
    for (std::size_t index = 0; index < calls.size(); ++index) {
        const Message message = calls[index].message;
        if (!may_be(calls[index]) || !message.is_send) continue;
        const bool alone = std::count_if(calls.begin(), calls.end(), [&](const MessageCall &other) {
                               return other.message.is_send && other.message.peer == message.peer;
                           }) == 1;
        std::byte *destination = addresses_.destination_of(message, traffic, !found && alone);
        if (destination == nullptr) continue;
        found = leave_head(calls[index], destination);
        if (found->head_parts == 0) calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(index--));
    }
    return found;
}

/// Enqueues the send on the push stream, beside the other messages of the calls: both ends of a ring send and receive
/// at once.
void GpuMessages::send_directly(const DirectSend &send, cudaStream_t stream) {
    void *arguments[] = {const_cast<CommView *>(&view_), const_cast<DirectSend *>(&send)};
    check_cuda(cudaStreamWaitEvent(lane_.pushes.get(), lane_.fork.get(), 0), "cudaStreamWaitEvent");
    const KernelChoice meet = meet_for_direct_send();
    launch(meet.kernel, 1, meet.threads, arguments, SyncDomain::remote, lane_.pushes.get(), "launching a send");
    check_cuda(cudaMemcpyAsync(send.destination + send.head_bytes, send.message.buffer + send.head_bytes,
                               send.message.bytes - send.head_bytes, cudaMemcpyDeviceToDevice, lane_.pushes.get()),
               "copying a message");
    const KernelChoice done = done_with_direct_send();
    launch(done.kernel, 1, done.threads, arguments, SyncDomain::remote, lane_.pushes.get(), "launching a send");
    lane_.let_follow(stream, lane_.pushes.get());
}

void GpuMessages::run(std::vector<MessageCall> calls, cudaStream_t stream) {
    std::optional<DirectSend> direct = take_direct_send(calls, stream);
    if (direct) check_cuda(cudaEventRecord(lane_.fork.get(), stream), "cudaEventRecord");
    // Before the direct send, which waits for its receiver: streams may share a connection to the GPU, on which
    // whatever is behind a wait waits too.
    if (!calls.empty()) {
        DirectSend *const head = direct ? &*direct : nullptr;
        calls.size() <= few_messages ? launch_kernel<few_messages>(calls, head, stream)
                                     : launch_kernel<BATON_GROUP_LIMIT>(calls, head, stream);
    }
    if (direct) send_directly(*direct, stream);
}

}  // namespace baton::core
