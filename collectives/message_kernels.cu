#include "collectives/kernels.hpp"
#include "collectives/p2p/algorithms.hpp"
#include "transport/kernel/grid.cuh"
#include "transport/kernel/launch.hpp"
#include "transport/kernel/message_engine.cuh"

namespace baton::core {
namespace {

/// The index of the message that a block works on; first_block ascends.
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

/// The ways that a kernel's messages may go. A kernel with a single way has a third of the code, and a small message's
/// time is instructions, many of them not in the caches.
template <Algorithm... algorithms>
struct MessageWays {
    static constexpr bool has(Algorithm one) { return ((one == algorithms) || ...); }
    __device__ static bool is(Algorithm one, Algorithm taken) {
        return has(one) && (sizeof...(algorithms) == 1 || one == taken);
    }

    /// Loads the first data of a send that does not ask for its receiver's memory.
    __device__ static void load_ahead(KernelMessageEngine &engine, const Message &message, Algorithm taken) {
        if (is(Algorithm::packet, taken)) {
            const Range part = engine.share(message.bytes, copy_granule);
            engine.load_ahead(message.buffer + part.begin, part.bytes);
        } else if (is(Algorithm::line, taken)) {
            const Range part = engine.share(message.bytes, DataLine::payload);
            engine.load_lines_ahead(message.buffer + part.begin, part.bytes);
        }
    }
    __device__ static void run(KernelMessageEngine &engine, const Message &message, Algorithm taken) {
        MessageProgress progress;
        ((is(algorithms, taken) && run_message<algorithms>(engine, message, progress)) || ...);
    }
};
using AnyWay = MessageWays<Algorithm::packet, Algorithm::line, Algorithm::push, Algorithm::staged>;

/// Where many messages run side by side their blocks are small, so that many fit a multiprocessor: BATON_GROUP_LIMIT
/// blocks of each of eight ranks fit a GPU together.
inline constexpr int small_blocks_resident = 16;
template <int capacity>
inline constexpr bool is_large = capacity > few_messages;
template <int capacity>
inline constexpr int message_threads = is_large<capacity> ? group_block_threads : block_threads;

template <int capacity, class Ways>
__global__ void __launch_bounds__(message_threads<capacity>,
                                  is_large<capacity> ? small_blocks_resident : blocks_per_multiprocessor)
    messages_kernel(const __grid_constant__ CommView view, const __grid_constant__ MessageBatch<capacity> batch) {
    __shared__ MessageShared shared;
    const int block = static_cast<int>(blockIdx.x);
    const LaunchedMessage &launched = batch.messages[message_of(batch, block)];
    Message message = launched.message;
    int part = block - launched.first_block;
    wait_for_kernel_before();
    KernelMessageEngine engine(view, shared, launched.message.arrival, message.peer, message.is_send, part,
                               launched.parts, launched.count);
    if (message.is_send) Ways::load_ahead(engine, message, launched.algorithm);
    message.number = engine.open(message.number);
    // Where messages share the blocks, one that is staged or pushed may have more parts than blocks. (The one block
    // that receives a push waits for all of them.) Both sides go through theirs in ascending order, so the first that
    // is not done is always under way.
    const bool in_turns = Ways::is(Algorithm::staged, launched.algorithm) ||
                          (Ways::is(Algorithm::push, launched.algorithm) && message.is_send);
    do {
        engine.take_part(part);
        Ways::run(engine, message, launched.algorithm);
        part += launched.blocks;
    } while (in_turns && part < launched.parts);
    __syncthreads();
    let_kernel_after_launch();
}

/// These come before and after the copy of a send by a copy engine. One block each, for all channels but the head's.
/// They share the pair's count with the head's blocks, which may come before or after them. The copy has been enqueued
/// for `destination`, so the receiver must name the same.
__global__ void __launch_bounds__(group_block_threads)
    meet_kernel(const __grid_constant__ CommView view, const __grid_constant__ DirectSend send) {
    __shared__ MessageShared shared;
    wait_for_kernel_before();
    Message message = send.message;
    KernelMessageEngine engine(view, shared, send.message.arrival, message.peer, true, send.head_parts, send.parts,
                               {.readers = send.readers, .messages = 1});
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
    KernelMessageEngine engine(view, shared, send.message.arrival, message.peer, true, send.head_parts, send.parts,
                               {.readers = send.readers, .messages = 1});
    message.number = engine.open(1);
    engine.post_parts(peers_inbox(engine, message)->done, step_value(message.number, 1));
}

}  // namespace

KernelChoice meet_for_direct_send() { return {kernel_address(&meet_kernel), group_block_threads}; }
KernelChoice done_with_direct_send() { return {kernel_address(&done_kernel), group_block_threads}; }

KernelChoice message_kernel(bool large, std::optional<Algorithm> only) {
    if (large) return {kernel_address(&messages_kernel<BATON_GROUP_LIMIT, AnyWay>), group_block_threads};
    if (only == Algorithm::packet)
        return {kernel_address(&messages_kernel<few_messages, MessageWays<Algorithm::packet>>), block_threads};
    if (only == Algorithm::line)
        return {kernel_address(&messages_kernel<few_messages, MessageWays<Algorithm::line>>), block_threads};
    if (only == Algorithm::push)
        return {kernel_address(&messages_kernel<few_messages, MessageWays<Algorithm::push>>), block_threads};
    if (only == Algorithm::staged)
        return {kernel_address(&messages_kernel<few_messages, MessageWays<Algorithm::staged>>), block_threads};
    return {kernel_address(&messages_kernel<few_messages, AnyWay>), block_threads};
}

}  // namespace baton::core
