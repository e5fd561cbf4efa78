#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace baton::core {

/// The first bytes of what a copy engine carries, which a kernel copies because the engine starts microseconds later:
/// an eighth, at most 4 MiB. Of the limits from 1 to 16 MiB that was the best (docs/experiments.md).
constexpr std::uint64_t head_of(std::uint64_t bytes) {
    constexpr std::uint64_t most = 4 << 20;
    return (bytes / 8 < most ? bytes / 8 : most) / copy_granule * copy_granule;
}

}  // namespace baton::core
