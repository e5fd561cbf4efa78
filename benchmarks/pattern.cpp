#include "pattern.hpp"

#include <algorithm>

namespace baton::bench {

namespace {

std::uint32_t mix(std::uint64_t value) {
    value ^= value >> 33;
    value *= 0xFF51AFD7ED558CCDULL;
    value ^= value >> 33;
    value *= 0xC4CEB9FE1A85EC53ULL;
    return static_cast<std::uint32_t>(value >> 32);
}

/// Keeps sign, mantissa and three exponent bits of every floating-point number in a word, and adds the lowest exponent
/// (the bias less 3) to the three bits; the sums stay inside their exponents, so nothing carries between elements.
Pattern of_words(std::uint32_t seed, std::uint32_t keep, std::uint32_t add) { return {seed, {keep, keep}, {add, add}}; }

}  // namespace

Pattern make_pattern(baton_type type, int rank, std::uint64_t round) {
    const std::uint32_t seed = mix((round + 1) * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(rank) + 1);
    switch (type) {
        case BATON_FLOAT8_E4M3:
            return of_words(seed, 0xBFBFBFBFU, 0x20202020U);
        case BATON_FLOAT8_E5M2:
            return of_words(seed, 0x9F9F9F9FU, 0x30303030U);
        case BATON_FLOAT16:
            return of_words(seed, 0x9FFF9FFFU, 0x30003000U);
        case BATON_BFLOAT16:
            return of_words(seed, 0x83FF83FFU, 0x3E003E00U);
        case BATON_FLOAT32:
            return of_words(seed, 0x83FFFFFFU, 0x3E000000U);
        case BATON_FLOAT64:
            return {seed, {~0U, 0x807FFFFFU}, {0, 0x3FC00000U}};
        default:
            return {seed, {~0U, ~0U}, {0, 0}};
    }
}

void generate_words(const Pattern &pattern, std::uint64_t first, std::uint32_t *out, std::size_t words) {
    const std::uint32_t keep0 = pattern.keep[0], keep1 = pattern.keep[1];
    const std::uint32_t add0 = pattern.add[0], add1 = pattern.add[1];
    while (words > 0) {
        // Within a run the upper half of the index is the same, so the loop is plain 32-bit arithmetic and vectorises.
        const std::uint64_t until_wrap = (std::uint64_t{1} << 32) - (first & 0xFFFFFFFFU);
        const std::size_t run = std::min<std::uint64_t>(words, until_wrap);
        const std::uint32_t seed = pattern_seed(pattern.seed, first);
        const std::uint32_t low = static_cast<std::uint32_t>(first);
        for (std::size_t i = 0; i < run; i += 2) {
            const std::uint32_t index = low + static_cast<std::uint32_t>(i);
            out[i] = (pattern_hash(index, seed) & keep0) + add0;
            out[i + 1] = (pattern_hash(index + 1, seed) & keep1) + add1;
        }
        first += run;
        out += run;
        words -= run;
    }
}

}  // namespace baton::bench
