#pragma once

namespace baton::core {
inline namespace on_device {

inline constexpr unsigned warp_threads = 32;
/// All threads of a warp, for instructions that they take part in together.
inline constexpr unsigned full_mask = 0xFFFFFFFF;

/// How many threads take packets or lines, while the last warp may be verifying arrivals.
__device__ inline unsigned all_but_last_warp() { return blockDim.x - warp_threads; }

}  // namespace on_device
}  // namespace baton::core
