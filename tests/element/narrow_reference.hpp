#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "transport/element/types.hpp"

/// A second, slow definition of the narrow types: a table of all values as doubles, and a search in it.
namespace baton::test {

struct NarrowTraits {
    int exponent_bits;
    int mantissa_bits;
    bool has_infinity;  // e4m3 has none: its largest exponent holds numbers
    bool saturates;     // fp8
};

template <class T>
constexpr NarrowTraits narrow_traits();
template <>
constexpr NarrowTraits narrow_traits<core::Float16>() {
    return {5, 10, true, false};
}
template <>
constexpr NarrowTraits narrow_traits<core::BFloat16>() {
    return {8, 7, true, false};
}
template <>
constexpr NarrowTraits narrow_traits<core::Float8E4M3>() {
    return {4, 3, false, true};
}
template <>
constexpr NarrowTraits narrow_traits<core::Float8E5M2>() {
    return {5, 2, true, true};
}

template <class T>
class NarrowReference {
public:
    NarrowReference() {
        const int bias = (1 << (traits.exponent_bits - 1)) - 1;
        const unsigned codes = 1U << width;
        for (unsigned code = 0; code < codes; ++code) {
            const int exponent = static_cast<int>(code >> traits.mantissa_bits);
            const unsigned mantissa = code & ((1U << traits.mantissa_bits) - 1U);
            const bool largest = exponent == (1 << traits.exponent_bits) - 1;
            if (traits.has_infinity ? largest : code == codes - 1) break;
            const double fraction = std::ldexp(mantissa, -traits.mantissa_bits);
            values_.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                            : std::ldexp(1 + fraction, exponent - bias));
        }
    }

    unsigned nan_code() const { return (1U << width) - 1U; }

    unsigned encode(float value) const {
        if (std::isnan(value)) return nan_code();
        const unsigned sign = std::signbit(value) ? 1U << width : 0U;
        const double magnitude = std::fabs(static_cast<double>(value));
        const double largest = values_.back();
        if (magnitude > largest) {
            const auto last = static_cast<unsigned>(values_.size() - 1);
            // As if the format went on: what is nearer to the next value, or halfway to it (it is even), overflows.
            const double limit = largest + (largest - values_[last - 1]) / 2;
            return sign | (traits.saturates || magnitude < limit ? last : last + 1);
        }
        const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
        auto code = static_cast<unsigned>(above - values_.begin());
        if (*above != magnitude) {
            const double up = *above - magnitude;
            const double down = magnitude - *(above - 1);
            if (down < up || (down == up && (code - 1) % 2 == 0)) --code;
        }
        return sign | code;
    }

    float decode(unsigned bits) const {
        const unsigned code = bits & nan_code();
        const float sign = bits >> width ? -1.0F : 1.0F;
        if (code < values_.size()) return sign * static_cast<float>(values_[code]);
        if (traits.has_infinity && code == values_.size()) return sign * std::numeric_limits<float>::infinity();
        return std::numeric_limits<float>::quiet_NaN();
    }

private:
    static constexpr NarrowTraits traits = narrow_traits<T>();
    static constexpr int width = traits.exponent_bits + traits.mantissa_bits;
    std::vector<double> values_;  // of the codes without sign, ascending
};

/// Calls check(float) for the values at which rounding can go wrong: all exponents with every mantissa of at most
/// `bits` bits, the values halfway between, and those one fp32 step beside each. Both signs; also zeros, subnormals,
/// infinities and NaNs.
template <class Check>
void for_structured_floats(int bits, Check &&check) {
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
        for (int kept = 0; kept <= bits; ++kept) {
            const std::uint32_t half = 1U << (22 - kept);
            for (std::uint32_t mantissa = 0; mantissa < 1U << kept; ++mantissa) {
                const std::uint32_t base = (exponent << 23) + (mantissa << (23 - kept));
                for (const std::uint32_t at :
                     {base - 1, base, base + 1, base + half - 1, base + half, base + half + 1}) {
                    check(std::bit_cast<float>(at & 0x7FFFFFFFU));
                    check(std::bit_cast<float>(at | 0x80000000U));
                }
            }
        }
    }
}

template <class Check>
void for_random_floats(std::uint64_t seed, int count, Check &&check) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < count; ++i) check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
}

}  // namespace baton::test
