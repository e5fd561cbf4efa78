#pragma once

namespace baton::core {

/// Most ranks of a communicator: arrays by rank in kernels and on the board have this length.
inline constexpr int max_ranks = 64;

}  // namespace baton::core
