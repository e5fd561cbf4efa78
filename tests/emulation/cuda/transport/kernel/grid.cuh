#pragma once

#include "emulation/block.hpp"

/// A grid is over before the next one of its stream begins, but kernels are held to what they say here (block.hpp).
namespace baton::core {

inline void wait_for_kernel_before() { emulation::may_touch(); }
inline void let_kernel_after_launch() { emulation::let_next_launch(); }

}  // namespace baton::core
