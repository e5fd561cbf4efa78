#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::core {

/// Whether two pieces of memory have a byte in common.
inline bool overlap(const std::byte *first, std::uint64_t first_bytes, const std::byte *second,
                    std::uint64_t second_bytes) {
    const auto a = reinterpret_cast<std::uint64_t>(first);
    const auto b = reinterpret_cast<std::uint64_t>(second);
    return first_bytes > 0 && second_bytes > 0 && a < b + second_bytes && b < a + first_bytes;
}

}  // namespace baton::core
