#pragma once

#include <cstddef>
#include <cstdint>

#include "baton/baton.h"
#include "util/hd.hpp"

namespace baton::bench {

/// The test data: an endless sequence of 32-bit words, different for every rank and every round. An element of any type
/// is a piece of it. Word w is (hash(w) & keep) + add. keep and add leave integers as they are, and force every
/// floating-point element to a finite, normal number from 2^-3 to just below 2^5 in size. So sums depend on the order
/// of their terms, and no product or sum of finite inputs is a NaN. Two words of keep and add alternate, for fp64.
struct Pattern {
    std::uint32_t seed = 0;
    std::uint32_t keep[2] = {~0U, ~0U};
    std::uint32_t add[2] = {0, 0};
};

/// REQUIRES: a valid type.
Pattern make_pattern(baton_type type, int rank, std::uint64_t round);

/// The seed of a word. The upper half of the index enters it, so that sequences do not repeat after 2^32 words.
BATON_HD inline std::uint32_t pattern_seed(std::uint32_t seed, std::uint64_t word) {
    return seed ^ static_cast<std::uint32_t>(word >> 32) * 0x27D4EB2FU;
}

BATON_HD inline std::uint32_t pattern_hash(std::uint32_t low, std::uint32_t seed) {
    std::uint32_t x = low * 0x9E3779B1U + seed;
    x ^= x >> 15;
    x *= 0x85EBCA77U;
    x ^= x >> 13;
    x *= 0xC2B2AE3DU;
    return x ^ x >> 16;
}

BATON_HD inline std::uint32_t pattern_word(const Pattern &pattern, std::uint64_t word) {
    const std::uint32_t hash = pattern_hash(static_cast<std::uint32_t>(word), pattern_seed(pattern.seed, word));
    const std::size_t half = word & 1;
    return (hash & pattern.keep[half]) + pattern.add[half];
}

/// The bits of element `index` of a type of sizeof(Bits) bytes.
template <class Bits>
BATON_HD Bits pattern_element(const Pattern &pattern, std::uint64_t index) {
    if constexpr (sizeof(Bits) == 8) {
        return pattern_word(pattern, 2 * index) | static_cast<std::uint64_t>(pattern_word(pattern, 2 * index + 1))
                                                      << 32;
    } else {
        constexpr unsigned per_word = 4 / sizeof(Bits);
        const unsigned shift = static_cast<unsigned>(index % per_word) * 8 * static_cast<unsigned>(sizeof(Bits));
        return static_cast<Bits>(pattern_word(pattern, index / per_word) >> shift);
    }
}

/// Generates `words` words from `first` on, as fast as the host can. REQUIRES: first and words even.
void generate_words(const Pattern &pattern, std::uint64_t first, std::uint32_t *out, std::size_t words);

}  // namespace baton::bench
