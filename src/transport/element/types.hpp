#pragma once

#include <bit>
#include <cstdint>

#include "util/hd.hpp"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#endif

/// The element types of baton_type that C++ has no names for. Each is its bits with two conversions: to_float() is
/// exact, from_float() rounds to nearest even. In fp8 too large values, infinities included, become the largest finite
/// value.
///
/// A GPU uses its conversion instructions, a host the integer code below; the results are the same bits. from_float()
/// turns any NaN into the canonical NaN of the CUDA instructions (sign clear, all other bits set). The payload of a NaN
/// that to_float() returns is undefined, but nobody can see it: it comes back through from_float() or finish().
namespace baton::core {

namespace narrow {

/// A binary format narrower than fp32: its exponent, with bias 2^(e-1) - 1, its mantissa, and its special codes, all
/// without sign.
struct Format {
    int exponent_bits;
    int mantissa_bits;
    std::uint32_t overflow_from;  // the fp32 pattern from which magnitudes become
    std::uint32_t overflow_to;    // this code
    std::uint32_t not_a_number;   // what every NaN is encoded as
    std::uint32_t special;        // the first code that is an infinity or a NaN

    constexpr BATON_HD int shift() const { return 23 - mantissa_bits; }
    constexpr BATON_HD int width() const { return exponent_bits + mantissa_bits; }
    /// The difference of the biases: what is added to an exponent field of the format to make one of fp32.
    constexpr BATON_HD std::uint32_t rebias() const { return 128U - (1U << (exponent_bits - 1)); }
};

// In fp16, [65520, 65536) rounds to infinity by itself. bf16 has the exponents of fp32, so rounding alone gives its
// infinity. The fp8 limits are the largest finite values. e4m3 has no infinity, and its only NaN is all ones.
inline constexpr Format float16{5, 10, 0x47800000U, 0x7C00U, 0x7FFFU, 0x7C00U};
inline constexpr Format bfloat16{8, 7, 0x7FFFFFFFU, 0x7F80U, 0x7FFFU, 0x7F80U};
inline constexpr Format float8_e4m3{4, 3, 0x43E00000U, 0x7EU, 0x7FU, 0x7FU};
inline constexpr Format float8_e5m2{5, 2, 0x47600000U, 0x7BU, 0x7FU, 0x7CU};

/// left < right ? yes : no, by masks. With ?: gcc would move the floating-point operation of one side under a branch,
/// since it could trap, and then not vectorise. left and right are below 2^31: SSE compares only signed numbers.
constexpr BATON_HD std::uint32_t choose_if_less(std::uint32_t left, std::uint32_t right, std::uint32_t yes,
                                                std::uint32_t no) {
    const bool less = static_cast<std::int32_t>(left) < static_cast<std::int32_t>(right);
    const std::uint32_t mask = 0U - static_cast<std::uint32_t>(less);
    return (yes & mask) | (no & ~mask);
}

/// Has no branches on data, so that loops over it vectorise.
template <Format format>
BATON_HD inline std::uint32_t encode(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    const std::uint32_t sign = (bits >> 31) << format.width();
    // Adding just less than half of the last place, and one more if the kept part is odd, carries exactly when rounding
    // to nearest even goes up. The carry may run into the exponent, which is then right too.
    const std::uint32_t odd = (magnitude >> format.shift()) & 1U;
    const std::uint32_t half = (1U << (format.shift() - 1)) - 1U;
    std::uint32_t code = (magnitude - (format.rebias() << 23) + half + odd) >> format.shift();
    if constexpr (format.exponent_bits < 8) {
        // Below the smallest normal number: adds a power of two whose last place is the format's smallest step. The
        // adder rounds the sum, and its low bits are the code.
        constexpr std::uint32_t step = (format.rebias() + 1U + static_cast<std::uint32_t>(format.shift())) << 23;
        const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(step);
        const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(sum) - step;
        code = choose_if_less(magnitude, (format.rebias() + 1U) << 23, subnormal, code);
        code = choose_if_less(magnitude, format.overflow_from, code, format.overflow_to);
    }
    return choose_if_less(0x7F800000U, magnitude, format.not_a_number, code | sign);
}

/// Exact. For formats with fewer exponents than fp32.
template <Format format>
BATON_HD inline float decode(std::uint32_t code) {
    const std::uint32_t sign = (code >> format.width()) << 31;
    const std::uint32_t magnitude = code & ((1U << format.width()) - 1U);
    const std::uint32_t normal = (magnitude << format.shift()) + (format.rebias() << 23);
    // A subnormal code gets the leading one that it lacks, and subtracting that again leaves the value. No fp32
    // subnormal appears on the way, so a process that flushes those to zero decodes the same.
    const float leading_one = std::bit_cast<float>((format.rebias() + 1U) << 23);
    const float subnormal = std::bit_cast<float>(normal + (1U << 23)) - leading_one;
    const std::uint32_t first_normal = 1U << format.mantissa_bits;
    std::uint32_t bits = choose_if_less(magnitude, first_normal, std::bit_cast<std::uint32_t>(subnormal), normal);
    bits = choose_if_less(magnitude, format.special, bits, normal + (format.rebias() << 23));
    return std::bit_cast<float>(bits | sign);
}

}  // namespace narrow

struct Float16 {
    std::uint16_t bits;

    BATON_HD static Float16 from_float(float value) {
#if defined(__CUDA_ARCH__)
        return {__half_as_ushort(__float2half_rn(value))};
#else
        return {static_cast<std::uint16_t>(narrow::encode<narrow::float16>(value))};
#endif
    }

    BATON_HD float to_float() const {
#if defined(__CUDA_ARCH__)
        return __half2float(__ushort_as_half(bits));
#else
        return narrow::decode<narrow::float16>(bits);
#endif
    }
};

struct BFloat16 {
    std::uint16_t bits;

    BATON_HD static BFloat16 from_float(float value) {
#if defined(__CUDA_ARCH__)
        return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
#else
        return {static_cast<std::uint16_t>(narrow::encode<narrow::bfloat16>(value))};
#endif
    }

    BATON_HD float to_float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

struct Float8E4M3 {
    std::uint8_t bits;

    BATON_HD static Float8E4M3 from_float(float value) {
#if defined(__CUDA_ARCH__)
        const auto code = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
        return {value != value ? std::uint8_t{0x7F} : static_cast<std::uint8_t>(code)};
#else
        return {static_cast<std::uint8_t>(narrow::encode<narrow::float8_e4m3>(value))};
#endif
    }

    BATON_HD float to_float() const {
#if defined(__CUDA_ARCH__)
        return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E4M3)));
#else
        return narrow::decode<narrow::float8_e4m3>(bits);
#endif
    }
};

struct Float8E5M2 {
    std::uint8_t bits;

    BATON_HD static Float8E5M2 from_float(float value) {
#if defined(__CUDA_ARCH__)
        const auto code = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
        return {value != value ? std::uint8_t{0x7F} : static_cast<std::uint8_t>(code)};
#else
        return {static_cast<std::uint8_t>(narrow::encode<narrow::float8_e5m2>(value))};
#endif
    }

    BATON_HD float to_float() const {
#if defined(__CUDA_ARCH__)
        return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E5M2)));
#else
        return narrow::decode<narrow::float8_e5m2>(bits);
#endif
    }
};

}  // namespace baton::core
