#pragma once

#include <cstddef>
#include <cstdint>

#include "pattern.hpp"
#include "transport/element/reduce.hpp"
#include "util/limits.hpp"

namespace baton::bench {

using core::max_ranks;

/// What a reduction of the ranks' patterns must give: the ranks in the order 0, 1, ..., n-1, accumulated and rounded as
/// baton.h documents. In place, a call overwrites an input of the next one; `repeats` says how many calls have run
/// since the inputs were written, and `replaced` whose inputs they overwrote.
struct Reduction {
    static constexpr int nobody = -1;
    static constexpr int everybody = -2;

    Pattern pattern;  // keep and add of the type; the seeds are below
    std::uint32_t seeds[max_ranks] = {};
    int ranks = 0;
    int op = BATON_SUM;
    int repeats = 1;
    int replaced = nobody;  // or a rank: an in-place reduce_scatter overwrites its own block of one rank's input
    // For a library that promises no order: a floating-point sum or average may be that of any order of additions, each
    // rounded to the type. REQUIRES: replaced == nobody, and no 8-bit type.
    bool any_order = false;

    BATON_HD bool replaces(int rank) const { return replaced == everybody || replaced == rank; }
    BATON_HD bool is_sum() const { return op == BATON_SUM || op == BATON_AVG; }
};

/// Half the distance between 1 and the next number: the most that rounding to T adds to a number of magnitude up to 1.
/// Not 0 for types whose sums can be checked without knowing their order; 8-bit types round too much for that.
template <class T>
inline constexpr double rounding = 0;
template <>
inline constexpr double rounding<double> = 0x1p-53;
template <>
inline constexpr double rounding<float> = 0x1p-24;
template <>
inline constexpr double rounding<core::Float16> = 0x1p-11;
template <>
inline constexpr double rounding<core::BFloat16> = 0x1p-8;

/// The inputs of one element of a sum, and how far the result of any order of additions can be from it. There are n - 1
/// roundings of additions, those of an average's factor before and after them, and some for what this leaves out. Each
/// is one of a partial sum, and no partial sum is larger than the sum of the magnitudes.
struct SumBound {
    double exact = 0;
    double magnitude = 0;

    BATON_HD void add(double input) {
        exact += input;
        magnitude += input < 0 ? -input : input;
    }

    /// Whether `result` is the sum, or with `divisor` the average, up to such errors. False for a NaN.
    template <class T>
    BATON_HD bool admits(T result, int ranks, int divisor) const {
        const double off = static_cast<double>(core::Element<T>::load(result)) * divisor - exact;
        const double most = (ranks + 2) * rounding<T> * magnitude;
        return off <= most && -off <= most;
    }
};

/// REQUIRES: ranks <= max_ranks. Rank r's input is make_pattern(type, r, round).
Reduction make_reduction(baton_type type, baton_op op, int ranks, std::uint64_t round);

/// The outcome of a check: elements that differ in any bit, and the index of the first of them.
struct Check {
    std::uint64_t wrong = 0;
    std::uint64_t first = ~std::uint64_t{0};

    void add(const Check &other) {
        wrong += other.wrong;
        first = first < other.first ? first : other.first;
    }
};

/// Writes the pattern's first `bytes` bytes.
void fill_host(const Pattern &pattern, void *destination, std::size_t bytes);

/// Whether `count` elements are those of the pattern from `first` on.
Check check_copy_host(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                      std::size_t count);

/// Whether `count` elements are those of the reduction from element `first` on.
Check check_reduction_host(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                           std::size_t count);

}  // namespace baton::bench
