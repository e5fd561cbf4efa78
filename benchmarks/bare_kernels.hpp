#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace baton::bench {

/// An empty kernel: the least that a launch costs.
void launch_empty_kernel(cudaStream_t stream);

/// One thread that stores flag + 1, flag + 2, ... to `theirs` and waits for each of them in `mine`. The partner's
/// kernel does the same with the two words exchanged; one of the two starts. Each word is stored by one rank and polled
/// by the other. The words carry no data, so nothing but themselves is ordered: the shortest flight there is. Gives up
/// after `timeout_seconds`, which the value left in `mine` shows.
void launch_ping_pong(std::uint64_t *mine, std::uint64_t *theirs, std::uint64_t flag, std::uint64_t trips, bool starts,
                      double timeout_seconds, cudaStream_t stream);

}  // namespace baton::bench
