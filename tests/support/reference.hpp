#pragma once

#include <span>
#include <vector>

#include "support/buffer.hpp"

namespace baton::test {

/// Expected values, computed without the library: own conversions, one element at a time, slow and plain.

inline constexpr baton_type all_types[] = {
    BATON_INT8,   BATON_UINT8,   BATON_INT16,    BATON_UINT16,  BATON_INT32,   BATON_UINT32,      BATON_INT64,
    BATON_UINT64, BATON_FLOAT16, BATON_BFLOAT16, BATON_FLOAT32, BATON_FLOAT64, BATON_FLOAT8_E4M3, BATON_FLOAT8_E5M2};
inline constexpr baton_op all_ops[] = {BATON_SUM, BATON_PROD, BATON_MIN, BATON_MAX, BATON_AVG};

std::size_t width_of(baton_type type);
bool is_integer(baton_type type);
/// AVG is for floating-point types only.
bool is_defined(baton_op op, baton_type type);

/// `count` elements that differ by seed, rank and index: arbitrary bits for integers; for floating point finite values
/// whose sums round, whose order of summation shows, and whose products stay in range. MIN and MAX also get signed
/// zeros and, for fp32 and fp64, NaNs.
/// `first` skips elements: the rest is the same as without it.
Bytes make_input(baton_type type, baton_op op, std::uint64_t seed, int rank, std::size_t count, std::size_t first = 0);

/// The reduction of inputs[0], inputs[1], ... in this order, as baton.h defines it.
Bytes reduce(baton_type type, baton_op op, std::span<const std::span<const std::byte>> inputs);

/// The same for the inputs that make_input gives ranks 0 .. ranks-1.
Bytes reduce_inputs(baton_type type, baton_op op, std::uint64_t seed, int ranks, std::size_t count,
                    std::size_t first = 0);

/// Bits of the small floating-point formats: exposed for the reference's own test.
float small_to_float(baton_type type, std::uint32_t bits);
std::uint32_t float_to_small(baton_type type, float value);

}  // namespace baton::test
