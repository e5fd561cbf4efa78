#pragma once

#include "transport/transport.hpp"

namespace baton::core {

/// The index-th of the pieces that a channel's part is cut into, of `most` bytes each, the last ones shorter or empty:
/// split() without its division. `most` is what split() gives the first one.
BATON_HD inline Range piece_of(const Range &part, std::uint64_t most, int index) {
    const std::uint64_t wanted = most * static_cast<std::uint64_t>(index);
    const std::uint64_t begin = wanted < part.bytes ? wanted : part.bytes;
    const std::uint64_t left = part.bytes - begin;
    return {part.begin + begin, left < most ? left : most};
}

}  // namespace baton::core
