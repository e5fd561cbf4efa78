#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "baton/baton.h"
#include "narrow_reference.hpp"

/// The reductions as baton.h defines them: a second, slow implementation.
namespace baton::test {

template <class Value>
Value reference_step(int op, Value left, Value right) {
    switch (op) {
        case BATON_PROD:
            return left * right;
        case BATON_MIN:
            return right < left ? right : left;
        case BATON_MAX:
            return right > left ? right : left;
        default:
            return left + right;
    }
}

__extension__ typedef __int128 SignedWide;
__extension__ typedef unsigned __int128 UnsignedWide;

template <class T>
T reference_integer(int op, const std::vector<T> &elements) {
    using Wide = std::conditional_t<std::is_signed_v<T>, SignedWide, UnsignedWide>;
    T result = elements[0];
    // Two factors of 64 bits fit 128; the conversion back keeps the low bits.
    for (std::size_t r = 1; r < elements.size(); ++r) {
        result = static_cast<T>(reference_step<Wide>(op, result, elements[r]));
    }
    return result;
}

template <class Value>
Value reference_float(int op, const std::vector<Value> &elements) {
    volatile Value result = elements[0];
    for (std::size_t r = 1; r < elements.size(); ++r) result = reference_step<Value>(op, result, elements[r]);
    if (op == BATON_AVG) result = result / static_cast<Value>(elements.size());
    if (op == BATON_MIN || op == BATON_MAX || !std::isnan(result)) return result;
    if constexpr (sizeof(Value) == 4) {
        return std::bit_cast<Value>(0x7FFFFFFFU);
    } else {
        return std::bit_cast<Value>(std::uint64_t{0x7FFFFFFFFFFFFFFFU});
    }
}

template <class T>
T reference_reduce(int op, const std::vector<T> &elements) {
    if constexpr (std::is_integral_v<T>) {
        return reference_integer(op, elements);
    } else if constexpr (std::is_floating_point_v<T>) {
        return reference_float(op, elements);
    } else {
        static const NarrowReference<T> narrow;
        std::vector<float> values;
        for (const T &element : elements) values.push_back(narrow.decode(element.bits));
        return {static_cast<decltype(T::bits)>(narrow.encode(reference_float(op, values)))};
    }
}

}  // namespace baton::test
