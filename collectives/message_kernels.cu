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
/// those of its message at its start, so the last block to end may raise them; a block that is alone with a count need
/// not wait for the others.
template <int capacity>
__device__ void raise_counts(const CommView &view, const MessageBatch<capacity> &batch, const Message &mine) {
    __syncthreads();
    let_kernel_after_launch();
    if (batch.separate) {
        if (threadIdx.x == 0) *count_of(view, mine) = mine.number;
        return;
    }
    __shared__ int last;
    if (threadIdx.x == 0) {
        __threadfence();
        auto *finished = reinterpret_cast<unsigned long long *>(&view.own().header()->finished);
        last = atomicAdd(finished, 1ULL) + 1 == gridDim.x;
        if (last) *finished = 0;
    }
    __syncthreads();
    if (!last) return;
    for (int index = static_cast<int>(threadIdx.x); index < batch.count; index += static_cast<int>(blockDim.x)) {
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
__global__ void __launch_bounds__(message_threads<capacity>, is_large<capacity> ? 16 : 1)
    messages_kernel(const __grid_constant__ CommView view, const __grid_constant__ MessageBatch<capacity> batch) {
    wait_for_kernel_before();
    extern __shared__ __align__(128) std::byte tiles[];
    __shared__ MessageShared shared;
    __shared__ BulkShared bulk;
    BulkCopier copier(bulk, tiles);
    if (batch.bulk && threadIdx.x == 0) copier.start();
    const int block = static_cast<int>(blockIdx.x);
    const LaunchedMessage &launched = batch.messages[message_of(batch, block)];
    Message message = launched.message;
    message.number += *count_of(view, message);
    const int parts = message.is_send ? launched.parts : 1;  // a recv's block waits for all of the sender's channels
    for (int part = block - launched.first_block; part < parts; part += launched.blocks) {
        KernelMessageEngine engine(view, shared, batch.bulk ? &copier : nullptr, launched.message.arrival, message.peer,
                                   message.number, part, launched.parts);
        run(engine, message, launched.push);
    }
    if (batch.bulk && threadIdx.x == 0) copier.leave();
    raise_counts(view, batch, message);
}

}  // namespace

KernelChoice message_kernel(bool large) {
    return {large ? reinterpret_cast<const void *>(&messages_kernel<BATON_GROUP_LIMIT>)
                  : reinterpret_cast<const void *>(&messages_kernel<4>),
            large ? group_block_threads : block_threads, bulk_shared_bytes};
}

std::vector<KernelChoice> collective_kernels() {
    std::vector<KernelChoice> kernels{barrier_kernel(), message_kernel(false), message_kernel(true)};
    for (const Algorithm algorithm : {Algorithm::packet, Algorithm::push}) {
        kernels.push_back(allgather_kernel(algorithm));
        kernels.push_back(alltoall_kernel(algorithm));
        kernels.push_back(broadcast_kernel(algorithm));
    }
    for (int index = 0; index < BATON_TYPE_COUNT; ++index) {
        const auto type = static_cast<baton_type>(index);
        kernels.push_back(reduce_scatter_kernel(Algorithm::packet, type));
        kernels.push_back(reduce_scatter_kernel(Algorithm::pull, type));
        kernels.push_back(allreduce_kernel(Algorithm::packet, type));
        kernels.push_back(allreduce_kernel(Algorithm::two_shot, type));
    }
    return kernels;
}

}  // namespace baton::core
