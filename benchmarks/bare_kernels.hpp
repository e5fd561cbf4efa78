#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace baton::bench {

/// What a launch costs at least.
void launch_empty_kernel(cudaStream_t stream);

/// One thread that stores flag + 1, flag + 2, ... to `theirs` and waits for each of them in `mine`; the partner's
/// kernel does the same with the words exchanged, one of the two starting. Each word is stored by one rank and polled
/// by the other. They carry no data, so nothing is ordered but themselves: the shortest flight there is. Gives up after
/// `timeout_seconds`, which the value left in `mine` shows.
void launch_ping_pong(std::uint64_t *mine, std::uint64_t *theirs, std::uint64_t flag, std::uint64_t trips, bool starts,
                      double timeout_seconds, cudaStream_t stream);

}  // namespace baton::bench
