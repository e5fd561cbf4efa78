#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "baton/baton.h"
#include "transport/element/types.hpp"

/// The arithmetic of the reductions: one source for kernels and the host path. Both get the same bits:
///  - Every step is one IEEE operation, rounded to nearest: an add, a multiply or a divide. On the device they are the
///    _rn intrinsics, which the compiler may not contract into an FMA. The host is compiled with -ffp-contract=off: if
///    the processor has an FMA, gcc contracts across expressions, even in ISO C++.
///  - An invalid operation gives NaNs of different bits on different processors, so a NaN is made canonical at the end.
///  - MIN and MAX are a compare and a select, which moves bits and rounds nothing. For narrow types these are the
///    accumulator's bits, so that NaNs come out canonical and fp8 saturates there too.
namespace baton::core {

/// How values of T are accumulated: floating-point types no wider than fp32 in fp32, all others in T itself.
template <class T>
struct Element {
    using Accumulator = T;
    BATON_HD static Accumulator load(T value) { return value; }
    BATON_HD static T store(Accumulator value) { return value; }
};

template <class T>
struct NarrowElement {
    using Accumulator = float;
    BATON_HD static float load(T value) { return value.to_float(); }
    BATON_HD static T store(float value) { return T::from_float(value); }
};
template <>
struct Element<Float16> : NarrowElement<Float16> {};
template <>
struct Element<BFloat16> : NarrowElement<BFloat16> {};
template <>
struct Element<Float8E4M3> : NarrowElement<Float8E4M3> {};
template <>
struct Element<Float8E5M2> : NarrowElement<Float8E5M2> {};

template <class T>
using Accumulator = typename Element<T>::Accumulator;

template <class T>
inline constexpr bool is_floating_element = std::is_floating_point_v<Accumulator<T>>;

/// Integers wrap. They are calculated as unsigned, in at least 32 bits: types below int would be promoted to signed
/// int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

template <class A>
BATON_HD inline A add(A left, A right) {
    if constexpr (std::is_integral_v<A>) {
        return static_cast<A>(static_cast<Wrapping<A>>(left) + static_cast<Wrapping<A>>(right));
    } else {
#if defined(__CUDA_ARCH__)
        if constexpr (sizeof(A) == 4) {
            return __fadd_rn(left, right);
        } else {
            return __dadd_rn(left, right);
        }
#else
        return left + right;
#endif
    }
}

template <class A>
BATON_HD inline A multiply(A left, A right) {
    if constexpr (std::is_integral_v<A>) {
        return static_cast<A>(static_cast<Wrapping<A>>(left) * static_cast<Wrapping<A>>(right));
    } else {
#if defined(__CUDA_ARCH__)
        if constexpr (sizeof(A) == 4) {
            return __fmul_rn(left, right);
        } else {
            return __dmul_rn(left, right);
        }
#else
        return left * right;
#endif
    }
}

/// Floating-point types only.
template <class A>
BATON_HD inline A divide(A dividend, A divisor) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(A) == 4) {
        return __fdiv_rn(dividend, divisor);
    } else {
        return __ddiv_rn(dividend, divisor);
    }
#else
    return dividend / divisor;
#endif
}

/// Turns any NaN into the one with the sign clear and all other bits set, as CUDA's fp32 arithmetic gives it.
template <class A>
BATON_HD inline A canonical(A value) {
    if constexpr (sizeof(A) == 4) {
        return value != value ? std::bit_cast<A>(0x7FFFFFFFU) : value;
    } else {
        return value != value ? std::bit_cast<A>(std::uint64_t{0x7FFFFFFFFFFFFFFFU}) : value;
    }
}

/// Combines with the next rank's element. MIN and MAX keep `accumulated` if neither is less, as when either is a NaN.
template <class T>
BATON_HD inline Accumulator<T> combine(int op, Accumulator<T> accumulated, Accumulator<T> next) {
    switch (op) {
        case BATON_SUM:
        case BATON_AVG:
            return add(accumulated, next);
        case BATON_PROD:
            return multiply(accumulated, next);
        case BATON_MIN:
            return next < accumulated ? next : accumulated;
        default:
            return next > accumulated ? next : accumulated;
    }
}

/// Ends a reduction after the last rank's element: divides for the average, and makes NaNs canonical where arithmetic
/// may have made one. Narrow types get canonical NaNs from from_float().
template <class T>
BATON_HD inline Accumulator<T> finish(int op, Accumulator<T> accumulated, int ranks) {
#if !defined(__CUDA_ARCH__)
    // Early, because for these two clang would divide by 1, which sets the quiet bit of NaNs.
    if (op == BATON_MIN || op == BATON_MAX) return accumulated;
#endif
    if constexpr (is_floating_element<T>) {
        if (op == BATON_AVG) accumulated = divide(accumulated, static_cast<Accumulator<T>>(ranks));
    }
    if constexpr (std::is_floating_point_v<T>) {
        if (op != BATON_MIN && op != BATON_MAX) accumulated = canonical(accumulated);
    }
    return accumulated;
}

/// Calls body(constant) with `op` as an integral_constant, which combine() folds: one branch around a loop instead of
/// one inside it. AVG combines as SUM does.
template <class Body>
BATON_HD inline void with_op(int op, Body &&body) {
    switch (op) {
        case BATON_SUM:
        case BATON_AVG:
            return body(std::integral_constant<int, BATON_SUM>{});
        case BATON_PROD:
            return body(std::integral_constant<int, BATON_PROD>{});
        case BATON_MIN:
            return body(std::integral_constant<int, BATON_MIN>{});
        default:
            return body(std::integral_constant<int, BATON_MAX>{});
    }
}

/// Whether reductions support this operation for this type. False for values without an enumerator.
constexpr bool op_defined(baton_type type, baton_op op) {
    if (static_cast<int>(type) < 0 || type >= BATON_TYPE_COUNT) return false;
    if (static_cast<int>(op) < 0 || op >= BATON_OP_COUNT) return false;
    return op != BATON_AVG || (type >= BATON_FLOAT16 && type <= BATON_FLOAT8_E5M2);
}

}  // namespace baton::core
