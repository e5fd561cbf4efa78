#pragma once

#include <cstdint>

#include "util/hd.hpp"

namespace baton::core {

/// value / by, rounded up, for any value. Numbers of 31 bits are divided in 32 bits: a division of 64 bits takes a GPU
/// about a hundred dependent instructions, as long as a load.
constexpr BATON_HD std::uint64_t ceil_divide(std::uint64_t value, std::uint64_t by) {
    if ((value | by) >> 31 == 0)
        return (static_cast<std::uint32_t>(value) + static_cast<std::uint32_t>(by) - 1) /
               static_cast<std::uint32_t>(by);
    const std::uint64_t whole = value / by;
    return whole + (whole * by != value ? 1 : 0);
}

/// The least multiple of `of` that is not below value. REQUIRES: it fits 64 bits.
constexpr BATON_HD std::uint64_t round_up(std::uint64_t value, std::uint64_t of) { return ceil_divide(value, of) * of; }

}  // namespace baton::core
