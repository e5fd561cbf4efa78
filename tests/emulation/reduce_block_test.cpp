// Copies and reductions by one block: whole rounds of its words, the last round, and the elements beside them.
#include "emulation/cuda.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/expected.hpp"
#include "emulation/forbid.hpp"
#include "support/seed.hpp"
#include "transport/element/reduce.hpp"
#include "transport/kernel/reduce_unaligned.cuh"

namespace baton::emulation {
namespace {

constexpr unsigned threads = 64;

/// Offsets of the result and of the sources from addresses of 16 bytes.
struct Offsets {
    std::size_t result = 0;
    std::size_t sources = 0;
    std::size_t last_source = 0;
};

/// Reduces into memory of its own, then over the last source.
template <class T, bool may_be_long = false>
void expect_reduced(baton_type type, baton_op op, int ranks, std::size_t count, std::uint64_t seed,
                    const Offsets &offsets = {}, bool unaligned = false) {
    constexpr std::size_t guard = 32;
    const std::size_t bytes = count * sizeof(T);
    const test::Buffers inputs = test::all_patterns(seed + count, ranks, bytes);
    const std::vector<std::byte> expected = test::expected_reduction(inputs, count, type, op);
    // What lies before and after a source may be another rank's at the moment: AddressSanitizer sees loads.
    test::Buffers memory;
    std::vector<const T *> sources;
    for (std::size_t s = 0; s < inputs.size(); ++s) {
        const bool is_last = s + 1 == inputs.size();
        const std::size_t begin = guard + (is_last ? offsets.last_source : offsets.sources);
        std::byte *const whole = memory.emplace_back(begin + bytes, std::byte{0xEE}).data();
        std::copy(inputs[s].begin(), inputs[s].end(), whole + begin);
        if (!is_last) forbid(whole, begin / 8 * 8);
        sources.push_back(reinterpret_cast<const T *>(whole + begin));
    }
    memory.emplace_back(guard + offsets.result + bytes + guard, std::byte{0xEE});
    const auto reduce_to = [&](std::byte *to, std::vector<std::byte> &whole, const char *where) {
        T *const destinations[1] = {reinterpret_cast<T *>(to)};
        std::vector<std::byte> wanted = whole;
        std::copy(expected.begin(), expected.end(), wanted.begin() + (to - whole.data()));
        run_grid(1, threads, seed, [&] {
            unaligned ? core::reduce_unaligned<T>(destinations, 1, sources.data(), ranks, count, op)
                      : core::reduce_block<T, may_be_long>(destinations, 1, sources.data(), ranks, count, op);
        });
        ASSERT_TRUE(test::equal_bytes(wanted, whole))
            << fmt::format("{} {} of {} ranks, {}{}, offsets {} {} {}", count, baton_type_name(type), ranks,
                           baton_op_name(op), where, offsets.result, offsets.sources, offsets.last_source);
    };
    reduce_to(memory.back().data() + guard + offsets.result, memory.back(), "");
    std::vector<std::byte> &last = memory[inputs.size() - 1];
    reduce_to(last.data() + guard + offsets.last_source, last, ", in place");
}

/// For blocks of a buffer that do not begin where the result does, buffers of ranks that lie differently, and elements
/// at odd addresses.
template <class T>
void expect_reduced_anywhere(baton_type type, std::uint64_t seed) {
    constexpr std::size_t round = 16 * threads;  // elements
    for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9}) {
        for (const Offsets &offsets : {Offsets{sizeof(T), 0, 0}, Offsets{0, sizeof(T), sizeof(T)},
                                       Offsets{8, 8, sizeof(T)}, Offsets{0, 0, 1}, Offsets{1, 0, 0}}) {
            for (const bool unaligned : {false, true}) {
                for (const std::size_t count : {std::size_t{1}, round - 1, round, 2 * round + 5})
                    expect_reduced<T>(type, BATON_SUM, ranks, count, seed, offsets, unaligned);
                expect_reduced<T>(type, BATON_MAX, ranks, round + 1, seed, offsets, unaligned);
                if (core::op_defined(type, BATON_AVG))
                    expect_reduced<T>(type, BATON_AVG, ranks, round + 1, seed, offsets, unaligned);
            }
            if (testing::Test::HasFailure()) return;
        }
    }
}

template <class T>
void expect_reduced_in_rounds(baton_type type, std::uint64_t seed) {
    for (const int ranks : {1, 2, 3, 4, 8, 9}) {
        // If the number of sources is known, a round has eight words a thread, all sources together.
        const std::size_t round = threads * std::max<std::size_t>(1, 8 / static_cast<std::size_t>(ranks)) * 16;
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, round - 16, round, round + 16, 2 * round - 32,
                                        2 * round + 16 * threads, 3 * round + 8, 5 * round}) {
            for (const baton_op op : {BATON_SUM, BATON_PROD, BATON_MIN, BATON_MAX, BATON_AVG}) {
                if (core::op_defined(type, op)) expect_reduced<T>(type, op, ranks, bytes / sizeof(T), seed);
                if (testing::Test::HasFailure()) return;
            }
        }
    }
}

std::uint64_t drawn_seed() {
    const std::uint64_t seed = test::draw_seed();
    return seed;
}

TEST(CopyBlock, MovesEveryByteAndNoOtherAtAnyAddress) {
    const std::uint64_t seed = drawn_seed();
    constexpr std::size_t guard = 32;
    constexpr std::size_t round = 16 * 8 * threads;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{47}, std::size_t{48}, std::size_t{49},
                                    round - 1, round + 32, round + 33, 3 * round + 500}) {
        const std::vector<std::byte> patterns = test::all_patterns(seed + bytes, 1, 16 + bytes)[0];
        for (std::size_t from = 0; from < 16; ++from) {
            std::vector<std::byte> source(patterns.begin(),
                                          patterns.begin() + static_cast<std::ptrdiff_t>(from + bytes));
            forbid(source.data(), from / 8 * 8);
            for (const std::size_t to : {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{15}}) {
                std::vector<std::byte> memory(guard + bytes + guard, std::byte{0xEE});
                std::vector<std::byte> wanted = memory;
                const auto begin = patterns.begin() + static_cast<std::ptrdiff_t>(from);
                std::copy(begin, begin + static_cast<std::ptrdiff_t>(bytes),
                          wanted.begin() + static_cast<std::ptrdiff_t>(guard / 2 + to));
                run_grid(1, threads, seed,
                         [&] { core::copy_block(memory.data() + guard / 2 + to, source.data() + from, bytes); });
                ASSERT_TRUE(test::equal_bytes(wanted, memory)) << fmt::format("{} bytes, {} to {}", bytes, from, to);
            }
            allow(source.data(), from / 8 * 8);
        }
    }
}

/// From long_words on, rounds have 16 words a thread.
TEST(ReduceBlock, GivesTheSameOfLongParts) {
    const std::uint64_t seed = drawn_seed();
    for (const std::size_t words : {core::long_words - 1, core::long_words, core::long_words + 3 * threads + 5})
        expect_reduced<float, true>(BATON_FLOAT32, BATON_SUM, 4, words * 4 + 1, seed);
}

TEST(ReduceBlock, GivesTheSameAtAnyAddress) {
    const std::uint64_t seed = drawn_seed();
    expect_reduced_anywhere<double>(BATON_FLOAT64, seed);
    expect_reduced_anywhere<float>(BATON_FLOAT32, seed);
    expect_reduced_anywhere<core::BFloat16>(BATON_BFLOAT16, seed);
    expect_reduced_anywhere<std::int8_t>(BATON_INT8, seed);
}

TEST(ReduceBlock, GivesTheSameInEveryRound) {
    const std::uint64_t seed = drawn_seed();
    expect_reduced_in_rounds<float>(BATON_FLOAT32, seed);
    expect_reduced_in_rounds<core::BFloat16>(BATON_BFLOAT16, seed);
    expect_reduced_in_rounds<std::int8_t>(BATON_INT8, seed);
}

}  // namespace
}  // namespace baton::emulation
