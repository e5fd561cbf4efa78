#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace baton::core {

/// A kernel copies the first bytes of what a copy engine carries, which starts microseconds later: an eighth, at most 4
/// MiB, the best of 1 to 16 (docs/experiments.md).
constexpr std::uint64_t head_of(std::uint64_t bytes) {
    constexpr std::uint64_t most = 4 << 20;
    return (bytes / 8 < most ? bytes / 8 : most) / copy_granule * copy_granule;
}

}  // namespace baton::core
