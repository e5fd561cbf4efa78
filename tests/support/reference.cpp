#include "support/reference.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace baton::test {
namespace {

/// A binary floating-point format. The fields after the first three are for formats of at most 16 bits.
struct Format {
    int exponent_bits, mantissa_bits, bias;
    bool has_infinity;  // e4m3 spends the top exponent on numbers and has one NaN
    bool saturates;     // overflow gives the largest finite value
    std::uint32_t max_finite;
};

constexpr Format format_of(baton_type type) {
    switch (type) {
        case BATON_FLOAT32:
            return {8, 23, 127, true, false, 0};
        case BATON_FLOAT64:
            return {11, 52, 1023, true, false, 0};
        case BATON_FLOAT16:
            return {5, 10, 15, true, false, 0x7bff};
        case BATON_BFLOAT16:
            return {8, 7, 127, true, false, 0x7f7f};
        case BATON_FLOAT8_E5M2:
            return {5, 2, 15, true, true, 0x7b};
        default:
            return {4, 3, 7, false, true, 0x7e};
    }
}

/// 2^exponent. A product with it is what ldexp gives, and takes a fraction of its time; all that is scaled here fits a
/// double.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

/// REQUIRES: a normal double, not zero, infinity or NaN. No float is smaller than the smallest normal double.
int exponent_of(double magnitude) { return static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - 1023; }

/// Integers wrap: the arithmetic is done unsigned and at least 32 bits wide (a product of two uint16 would otherwise
/// be a signed int, and overflow).
template <class T>
T combine(baton_op op, T a, T b) {
    if (op == BATON_MIN) return b < a ? b : a;
    if (op == BATON_MAX) return a < b ? b : a;
    if constexpr (std::is_floating_point_v<T>) {
        return op == BATON_PROD ? a * b : a + b;
    } else {
        const std::uint64_t x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
        return static_cast<T>(op == BATON_PROD ? x * y : x + y);
    }
}

using Inputs = std::span<const std::span<const std::byte>>;

template <class T>
T element(std::span<const std::byte> bytes, std::size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

template <class T>
T reduce_element(baton_op op, Inputs inputs, std::size_t i) {
    T value = element<T>(inputs[0], i);
    for (std::size_t r = 1; r < inputs.size(); ++r) value = combine(op, value, element<T>(inputs[r], i));
    if constexpr (std::is_floating_point_v<T>)
        if (op == BATON_AVG) value /= static_cast<T>(inputs.size());
    return value;
}

template <class T>
Bytes reduce_as(baton_op op, Inputs inputs) {
    Bytes result(inputs[0].size());
    for (std::size_t i = 0; i < result.size() / sizeof(T); ++i) {
        const T value = reduce_element<T>(op, inputs, i);
        std::memcpy(result.data() + i * sizeof(T), &value, sizeof(T));
    }
    return result;
}

template <class Bits>
Bytes reduce_small(baton_type type, baton_op op, Inputs inputs) {
    Bytes result(inputs[0].size());
    for (std::size_t i = 0; i < result.size() / sizeof(Bits); ++i) {
        float value = small_to_float(type, element<Bits>(inputs[0], i));
        for (std::size_t r = 1; r < inputs.size(); ++r)
            value = combine(op, value, small_to_float(type, element<Bits>(inputs[r], i)));
        if (op == BATON_AVG) value /= static_cast<float>(inputs.size());
        const Bits bits = static_cast<Bits>(float_to_small(type, value));
        std::memcpy(result.data() + i * sizeof(Bits), &bits, sizeof(Bits));
    }
    return result;
}

/// Sign and mantissa from the hash, an exponent within a few of one.
std::uint64_t float_bits(const Format &format, std::uint64_t hash, baton_op op) {
    const std::uint64_t sign = op == BATON_AVG ? 0 : hash & 1;
    const std::uint64_t mantissa = (hash >> 8) & ((std::uint64_t{1} << format.mantissa_bits) - 1);
    // Products of 64 ranks must neither vanish nor overflow; sums are to lose bits.
    const std::int64_t exponent = op == BATON_PROD ? format.bias - static_cast<std::int64_t>((hash >> 1) & 1)
                                                   : format.bias - 4 + static_cast<std::int64_t>((hash >> 1) & 7);
    return (sign << (format.exponent_bits + format.mantissa_bits)) |
           (static_cast<std::uint64_t>(exponent) << format.mantissa_bits) | mantissa;
}

/// Bits for an operation that takes the smaller or the larger.
std::uint64_t ordered_float_bits(baton_type type, const Format &format, std::uint64_t hash, baton_op op) {
    const int kind = static_cast<int>((hash >> 60) & 15);
    // +0 or -0: they are equal, so the earlier rank's stays.
    if (kind < 3) return (hash & 1) << (format.exponent_bits + format.mantissa_bits);
    if (kind == 3 && type == BATON_FLOAT32) return 0x7fc00000u;
    if (kind == 3 && type == BATON_FLOAT64) return 0x7ff8000000000000u;
    return float_bits(format, hash, op);
}

/// Copies have a length that the compiler knows. Others would be a call for each element, and slow when sanitized.
template <class Word, class BitsOf>
Bytes words_of(std::uint64_t stream, std::size_t count, const BitsOf &bits_of) {
    Bytes result(count * sizeof(Word));
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<Word>(bits_of(mix(stream + i)));
        std::memcpy(result.data() + i * sizeof(Word), &bits, sizeof(Word));
    }
    return result;
}

/// A loop for each kind of element, so that the kind is not looked up for every element.
template <class Word>
Bytes make_words(baton_type type, baton_op op, std::uint64_t stream, std::size_t count) {
    if (is_integer(type)) return words_of<Word>(stream, count, [](std::uint64_t hash) { return hash; });
    const Format format = format_of(type);
    if (op != BATON_MIN && op != BATON_MAX)
        return words_of<Word>(stream, count, [&](std::uint64_t hash) { return float_bits(format, hash, op); });
    return words_of<Word>(stream, count,
                          [&](std::uint64_t hash) { return ordered_float_bits(type, format, hash, op); });
}

}  // namespace

std::size_t width_of(baton_type type) {
    switch (type) {
        case BATON_INT8:
        case BATON_UINT8:
        case BATON_FLOAT8_E4M3:
        case BATON_FLOAT8_E5M2:
            return 1;
        case BATON_INT16:
        case BATON_UINT16:
        case BATON_FLOAT16:
        case BATON_BFLOAT16:
            return 2;
        case BATON_INT32:
        case BATON_UINT32:
        case BATON_FLOAT32:
            return 4;
        default:
            return 8;
    }
}

bool is_integer(baton_type type) { return type >= BATON_INT8 && type <= BATON_UINT64; }

bool is_defined(baton_op op, baton_type type) { return op != BATON_AVG || !is_integer(type); }

float small_to_float(baton_type type, std::uint32_t bits) {
    const Format format = format_of(type);
    const int width = 1 + format.exponent_bits + format.mantissa_bits;
    const std::uint32_t magnitude = bits & ((1u << (width - 1)) - 1);
    const float sign = (bits >> (width - 1)) & 1 ? -1.0f : 1.0f;
    const std::uint32_t mantissa = magnitude & ((1u << format.mantissa_bits) - 1);
    const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
    if (magnitude > format.max_finite) {
        const bool infinite = format.has_infinity && mantissa == 0;
        return infinite ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    }
    const std::uint32_t significand = exponent == 0 ? mantissa : mantissa + (1u << format.mantissa_bits);
    const double unit = power_of_two(std::max(exponent, 1) - format.bias - format.mantissa_bits);
    return sign * static_cast<float>(significand * unit);
}

std::uint32_t float_to_small(baton_type type, float value) {
    const Format format = format_of(type);
    const int width = 1 + format.exponent_bits + format.mantissa_bits;
    const std::uint32_t sign = std::signbit(value) ? 1u << (width - 1) : 0u;
    if (std::isnan(value)) return sign | ((1u << (width - 1)) - 1);
    const std::uint32_t overflow = format.saturates ? format.max_finite : format.max_finite + 1;
    const double magnitude = std::fabs(static_cast<double>(value));
    if (std::isinf(magnitude)) return sign | overflow;
    if (magnitude == 0) return sign;
    // Rounds to nearest even in units of the last place (nearbyint in the default mode); subnormals share one exponent,
    // and a significand that rounds up to the next power of two carries into the exponent by itself.
    const int exponent = std::max(exponent_of(magnitude), 1 - format.bias);
    const double units = std::nearbyint(magnitude * power_of_two(format.mantissa_bits - exponent));
    const std::uint32_t bits = (static_cast<std::uint32_t>(exponent + format.bias - 1) << format.mantissa_bits) +
                               static_cast<std::uint32_t>(units);
    return sign | (bits > format.max_finite ? overflow : bits);
}

Bytes make_input(baton_type type, baton_op op, std::uint64_t seed, int rank, std::size_t count, std::size_t first) {
    const std::uint64_t stream = mix(seed ^ mix(static_cast<std::uint64_t>(rank) + 1)) + first;
    switch (width_of(type)) {
        case 1:
            return make_words<std::uint8_t>(type, op, stream, count);
        case 2:
            return make_words<std::uint16_t>(type, op, stream, count);
        case 4:
            return make_words<std::uint32_t>(type, op, stream, count);
        default:
            return make_words<std::uint64_t>(type, op, stream, count);
    }
}

Bytes reduce(baton_type type, baton_op op, Inputs inputs) {
    switch (type) {
        case BATON_INT8:
            return reduce_as<std::int8_t>(op, inputs);
        case BATON_UINT8:
            return reduce_as<std::uint8_t>(op, inputs);
        case BATON_INT16:
            return reduce_as<std::int16_t>(op, inputs);
        case BATON_UINT16:
            return reduce_as<std::uint16_t>(op, inputs);
        case BATON_INT32:
            return reduce_as<std::int32_t>(op, inputs);
        case BATON_UINT32:
            return reduce_as<std::uint32_t>(op, inputs);
        case BATON_INT64:
            return reduce_as<std::int64_t>(op, inputs);
        case BATON_UINT64:
            return reduce_as<std::uint64_t>(op, inputs);
        case BATON_FLOAT32:
            return reduce_as<float>(op, inputs);
        case BATON_FLOAT64:
            return reduce_as<double>(op, inputs);
        default:
            break;
    }
    return width_of(type) == 2 ? reduce_small<std::uint16_t>(type, op, inputs)
                               : reduce_small<std::uint8_t>(type, op, inputs);
}

Bytes reduce_inputs(baton_type type, baton_op op, std::uint64_t seed, int ranks, std::size_t count, std::size_t first) {
    std::vector<Bytes> inputs;
    for (int rank = 0; rank < ranks; ++rank) inputs.push_back(make_input(type, op, seed, rank, count, first));
    const std::vector<std::span<const std::byte>> views(inputs.begin(), inputs.end());
    return reduce(type, op, views);
}

}  // namespace baton::test
