#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/baton.h"
#include "collectives/p2p/message.hpp"
#include "collectives/plan.hpp"
#include "sync/arena.hpp"

namespace baton::core {

/// Two for algorithms that run on halves of channels (kernel/half_engine.cuh).
constexpr int blocks_per_channel(Algorithm algorithm) { return is_pipeline(algorithm) ? 2 : 1; }
/// Blocks of whole channels, whatever their kernels, that fit a multiprocessor together: comm/gpu_share.cpp counts on
/// it.
inline constexpr int blocks_per_multiprocessor = 2;
constexpr int resident_blocks(Algorithm algorithm) { return blocks_per_multiprocessor * blocks_per_channel(algorithm); }
/// Whether the blocks of this way reduce long parts at once, and gain by code of its own for these (LongPartEngine).
constexpr bool reduces_long_parts(baton_operation operation, Algorithm algorithm) {
    return (operation == BATON_REDUCE_SCATTER && algorithm == Algorithm::pull) ||
           (operation == BATON_ALLREDUCE && algorithm == Algorithm::push);
}

struct KernelChoice {
    const void *kernel = nullptr;  // nullptr: the kernel transport has no such algorithm
    int threads = 0;               // of a block
};

/// The kernel that runs an algorithm of a collective, from the file that compiles it; none if that file does not have
/// it. Arguments: CommView, CollectiveArgs; if the algorithm is_routed(), RoutedArgs.
KernelChoice copying_kernel(baton_operation operation, Algorithm algorithm, baton_type type);
KernelChoice reduce_scatter_kernel(baton_operation operation, Algorithm algorithm, baton_type type);
KernelChoice allreduce_kernel(baton_operation operation, Algorithm algorithm, baton_type type);
KernelChoice line_kernel(baton_operation operation, Algorithm algorithm, baton_type type);
KernelChoice routed_kernel(baton_operation operation, Algorithm algorithm, baton_type type);
KernelChoice staged_kernel(baton_operation operation, Algorithm algorithm, baton_type type);
/// The kernel of plans by copy engines: it combines what these push (pushed.hpp).
KernelChoice pushed_kernel(baton_operation operation, Algorithm algorithm, baton_type type);

/// One of the sends and recvs of a launch, which run side by side.
struct LaunchedMessage {
    Message message;  // number: its place among the launch's messages to (or from) the peer, from 1; the kernel adds
                      // the pair's count
    CountUse count;
    std::int32_t first_block = 0;
    std::int32_t blocks = 1;  // this rank's choice
    std::int32_t parts = 1;   // channels of the message, agreed with the peer if it is pushed or staged; a block works
                              // through every blocks-th part
    Algorithm algorithm = Algorithm::packet;
};
/// Two capacities, since most launches carry one or two messages and need not copy parameters for BATON_GROUP_LIMIT.
inline constexpr int few_messages = 4;
template <int capacity>
struct MessageBatch {
    std::int32_t count = 0;
    LaunchedMessage messages[capacity];
};

/// Arguments: CommView, the batch. `only`: the way of all its messages, if they have the same one.
KernelChoice message_kernel(bool large, std::optional<Algorithm> only);

/// A send whose data a copy engine carries, except for a head that a kernel of the same launch pushes while the engine
/// is being started. No other message of its launch goes to this peer.
struct DirectSend {
    Message message;
    std::byte *destination = nullptr;  // the receiver's buffer, as the hosts have told each other
    std::int32_t parts = 1;            // channels whose words the receiver waits for
    std::uint64_t head_bytes = 0;
    std::int32_t head_parts = 0;  // the first of the channels
    std::uint32_t readers = 2;    // of the pair's count: the kernels before and after the copy, the head's blocks
};

/// Before and after the copy; arguments: CommView, DirectSend.
KernelChoice meet_for_direct_send();
KernelChoice done_with_direct_send();

/// The kernel of reduce_scatter by pull where inputs and result do not begin alike modulo 16: for blocks that are no
/// multiple of 16 bytes, and buffers that lie differently.
KernelChoice reduce_scatter_unaligned_kernel(baton_type type);

/// The kernel of a collective's or barrier's plan; none if no kernel runs it.
KernelChoice kernel_for(baton_operation operation, Algorithm algorithm, baton_type type);
/// All kernels of this layer and the ones below.
std::vector<const void *> all_kernels();

}  // namespace baton::core
