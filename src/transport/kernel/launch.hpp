#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "baton/baton.h"
#include "sync/wait.hpp"

namespace baton::core {

/// Threads of most kernels' blocks. Two such blocks fit a multiprocessor, with 128 registers for each thread.
inline constexpr int block_threads = 256;
/// Threads of a block where many messages run side by side.
inline constexpr int group_block_threads = 64;

/// What a synchronisation kernel does, in this order. It stands for the engine methods of the same names
/// (transport.hpp) where something other than the kernel moves the data: between begin and finish lie copies of the
/// same stream.
struct SyncActions {
    bool begin = false;              // tell the peers and wait for all of them
    std::uint64_t wait_credits = 0;  // steps; 0 = no
    std::uint64_t signal = 0;
    std::uint64_t wait = 0;
    int wait_for = any_peer;  // `wait` is for this peer alone
    std::uint64_t credit = 0;
    bool finish = false;
};

/// A kernel's memory synchronisation domain in CUDA. A kernel's fences, its releases to peers and its end wait for all
/// stores of its domain that are under way on this GPU; this goes for the application's kernels, too.
///   - `of_stream`: the domain of the stream, and so of the application's kernels there. It is Default unless the
///     application has set another.
///   - `remote`: another domain, so that the application's kernels do not wait for a large operation's stores over the
///     links. Such a launch takes 0.1 to 0.2 us more (docs/experiments.md).
/// The stores that a signal speaks of must be of its own domain, or of kernels that have ended.
enum class SyncDomain {
    of_stream,
    remote
};

/// A kernel as launch() takes it.
template <class Kernel>
const void *kernel_address(Kernel *kernel) {
    return reinterpret_cast<const void *>(kernel);
}

/// The launch functions return after enqueueing, and throw BATON_ERR_CUDA.
void launch(const void *kernel, int blocks, int threads, void **arguments, SyncDomain domain, cudaStream_t stream,
            const char *name);
void launch_sync(const CommView &view, const Arrival &mine, const SyncActions &actions, int channels,
                 cudaStream_t stream);
void launch_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, int blocks, SyncDomain domain,
                 cudaStream_t stream);
void launch_signal(const CommView &view, int window, int target, cudaStream_t stream);
void launch_wait_signal(const CommView &view, int window, int source, std::uint64_t signals, cudaStream_t stream);

struct ReduceSources {
    const std::byte *at[max_ranks] = {};
};
/// The blocks of launch_reduce() take tiles of this many bytes in turns. If each had one part of its own, what copy
/// engines do beside them would take longer (docs/experiments.md).
inline constexpr std::uint64_t reduce_tile = 65536;
/// Combines `sources` (addresses of this process, one per rank, in rank order) into `destination`. Does nothing if the
/// communicator is broken when the stream gets there.
void launch_reduce(const CommView &view, std::byte *destination, const ReduceSources &sources, std::uint64_t count,
                   baton_type type, baton_op op, int blocks, cudaStream_t stream);

/// Tests that stores and loads reach every peer. The first call, verify = false, writes `value` + rank into this rank's
/// credit words of channel 0, at every rank. The second, after all ranks have made the first, sets the bit of
/// *unreached (device-visible) of each rank whose word is missing here, or missing when read from that rank's own
/// arena.
void launch_probe(const CommView &view, std::uint64_t value, bool verify, std::uint64_t *unreached,
                  cudaStream_t stream);

/// Every kernel of this layer. Loading them at creation keeps a lazy load from waiting for a kernel that spins.
std::vector<const void *> transport_kernels();

}  // namespace baton::core
