#pragma once

#include <cstddef>
#include <cstdint>

#include "pattern.hpp"
#include "transport/element/reduce.hpp"

namespace baton::bench {

inline constexpr int max_ranks = 64;

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

    BATON_HD bool replaces(int rank) const { return replaced == everybody || replaced == rank; }
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
