#include "collectives/kernels.hpp"
#include "collectives/p2p/packet.hpp"
#include "collectives/p2p/push.hpp"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/launch.hpp"
#include "transport/kernel/message_engine.cuh"

namespace baton::core {
namespace {

/// The message that a block works on: first_block ascends.
template <int capacity>
__device__ int message_of(const MessageBatch<capacity> &batch, int block) {
    int low = 0;
    int high = batch.count - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (batch.messages[middle].first_block <= block) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

__device__ std::uint64_t *count_of(const CommView &view, const Message &message) {
    return message.is_send ? view.own().send_number(message.peer) : view.own().recv_number(message.peer);
}

/// The pairs' counts lie in device memory, so that a captured launch counts right at every replay. Every block reads
/// that of its message when it opens it; the last one to have done so raises them all, for the kernel after. A block
/// that is alone with a count does without the others. By one warp of each block, for which the others wait at the next
/// barrier.
template <int capacity>
__device__ void raise_counts(const CommView &view, const MessageBatch<capacity> &batch, const Message &mine) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (batch.separate) {
        if (lane == 0) *count_of(view, mine) = mine.number;
        return;
    }
    bool last = false;
    if (lane == 0) {
        __threadfence();
        auto *readers = reinterpret_cast<unsigned long long *>(&view.own().header()->count_readers);
        last = atomicAdd(readers, 1ULL) + 1 == gridDim.x;
        if (last) *readers = 0;
    }
    if (!__shfl_sync(0xFFFFFFFF, last, 0)) return;
    __threadfence();
    for (int index = lane; index < batch.count; index += 32) {
        std::uint64_t *count = count_of(view, batch.messages[index].message);
        atomicAdd(reinterpret_cast<unsigned long long *>(count), 1ULL);
    }
}

__device__ void run(KernelMessageEngine &engine, const Message &message, bool push) {
    MessageProgress progress;
    if (push) {
        message.is_send ? send_push(engine, message, progress) : recv_push(engine, message, progress);
    } else {
        message.is_send ? send_packet(engine, message, progress) : recv_packet(engine, message, progress);
    }
}

/// Where many messages run side by side their blocks are small, and eight fit a multiprocessor: BATON_GROUP_LIMIT
/// blocks of each of eight ranks fit a GPU together.
template <int capacity>
inline constexpr bool is_large = capacity > 4;
template <int capacity>
inline constexpr int message_threads = is_large<capacity> ? group_block_threads : block_threads;

template <int capacity>
__global__ void __launch_bounds__(message_threads<capacity>, is_large<capacity> ? 16 : 2)
    messages_kernel(const __grid_constant__ CommView view, const __grid_constant__ MessageBatch<capacity> batch) {
    __shared__ MessageShared shared;
    const int block = static_cast<int>(blockIdx.x);
    const LaunchedMessage &launched = batch.messages[message_of(batch, block)];
    Message message = launched.message;
    int part = block - launched.first_block;
    wait_for_kernel_before();
    KernelMessageEngine engine(view, shared, launched.message.arrival, message.peer, message.is_send, part,
                               launched.parts);
    if (message.is_send && !launched.push) {
        const auto pieces = MessagePieces::of(engine, message);
        engine.load_ahead(message.buffer + pieces.offset(0), pieces.bytes(0));
    }
    message.number = engine.open(message.number);
    if (threadIdx.x / 32 == blockDim.x / 64) raise_counts(view, batch, message);
    // Of a push, the receiver's one block waits for all of the sender's channels.
    const int parts = message.is_send || !launched.push ? launched.parts : 1;
    for (; part < parts; part += launched.blocks) {
        engine.take_part(part);
        run(engine, message, launched.push);
    }
    __syncthreads();
    let_kernel_after_launch();
}

/// What comes before and after the copy of a send by a copy engine; one block, all channels, and nobody else counts the
/// pair's messages meanwhile. The copy has been enqueued for `destination`: the receiver must name the same.
__global__ void __launch_bounds__(group_block_threads)
    meet_kernel(const __grid_constant__ CommView view, const __grid_constant__ DirectSend send) {
    __shared__ MessageShared shared;
    wait_for_kernel_before();
    Message message = send.message;
    KernelMessageEngine engine(view, shared, send.message.arrival, message.peer, true, 0, send.parts);
    message.number = engine.open(1);
    MessageProgress progress;
    std::byte *destination = nullptr;
    if (send_meet(engine, message, progress, destination) && destination != send.destination) engine.refuse();
}

__global__ void __launch_bounds__(group_block_threads)
    done_kernel(const __grid_constant__ CommView view, const __grid_constant__ DirectSend send) {
    __shared__ MessageShared shared;
    wait_for_kernel_before();
    Message message = send.message;
    KernelMessageEngine engine(view, shared, send.message.arrival, message.peer, true, 0, send.parts);
    message.number = engine.open(1);
    engine.post_parts(view.arena(message.peer).inbox(view.rank, message.slot())->done, message.number);
    if (threadIdx.x == 0) *count_of(view, message) = message.number;
}

}  // namespace

KernelChoice meet_for_direct_send() { return {reinterpret_cast<const void *>(&meet_kernel), group_block_threads}; }
KernelChoice done_with_direct_send() { return {reinterpret_cast<const void *>(&done_kernel), group_block_threads}; }

KernelChoice message_kernel(bool large) {
    return {large ? reinterpret_cast<const void *>(&messages_kernel<BATON_GROUP_LIMIT>)
                  : reinterpret_cast<const void *>(&messages_kernel<4>),
            large ? group_block_threads : block_threads};
}

}  // namespace baton::core
