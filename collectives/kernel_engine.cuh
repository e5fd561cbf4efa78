#pragma once

#include <type_traits>

#include "collectives/kernels.hpp"
#include "transport/kernel/engine.cuh"
#include "transport/kernel/half_engine.cuh"

namespace baton::core {

/// The engine of a block that runs an operation's algorithm.
template <baton_operation operation, Algorithm algorithm>
using EngineFor =
    std::conditional_t<blocks_per_channel(algorithm) == 2, HalfEngine,
                       std::conditional_t<reduces_long_parts(operation, algorithm), LongPartEngine, KernelEngine>>;

}  // namespace baton::core
