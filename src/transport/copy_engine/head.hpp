#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace baton::core {

/// What a kernel copies of the bytes that a copy engine is given, because the engine starts several microseconds later:
/// of 1 to 16 MiB 4 were the best (docs/experiments.md). Of fewer bytes a part, so that the engine has the most of
/// them.
constexpr std::uint64_t head_of(std::uint64_t bytes) {
    constexpr std::uint64_t most = 4 << 20;
    return (bytes / 8 < most ? bytes / 8 : most) / copy_granule * copy_granule;
}

}  // namespace baton::core
