// Reductions by one block: whole rounds of its words, the last round, and the elements beside them.
#include "emulation/cuda.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/expected.hpp"
#include "emulation/block.hpp"
#include "support/seed.hpp"
#include "transport/element/reduce.hpp"
#include "transport/kernel/reduce_block.cuh"

namespace baton::emulation {
namespace {

constexpr unsigned threads = 64;

/// Into memory of its own, then over the last source.
template <class T, bool may_be_long = false>
void expect_reduced(baton_type type, baton_op op, int ranks, std::size_t count, std::uint64_t seed) {
    test::Buffers inputs = test::all_patterns(seed + count, ranks, count * sizeof(T));
    const std::vector<std::byte> expected = test::expected_reduction(inputs, count, type, op);
    std::vector<std::byte> apart(count * sizeof(T), std::byte{0xEE});
    std::vector<const T *> sources;
    for (const auto &input : inputs) sources.push_back(reinterpret_cast<const T *>(input.data()));
    for (std::vector<std::byte> *const result : {&apart, &inputs.back()}) {
        T *const destinations[1] = {reinterpret_cast<T *>(result->data())};
        run_grid(1, threads, seed,
                 [&] { core::reduce_block<T, may_be_long>(destinations, 1, sources.data(), ranks, count, op); });
        ASSERT_TRUE(test::equal_bytes(expected, *result))
            << fmt::format("{} {} of {} ranks, {}{}", count, baton_type_name(type), ranks, baton_op_name(op),
                           result == &apart ? "" : ", in place");
    }
}

template <class T>
void expect_reduced_in_rounds(baton_type type, std::uint64_t seed) {
    for (const int ranks : {1, 2, 3, 4, 8, 9}) {
        // A round is of eight words a thread, all sources together, where their number is known.
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
    std::printf("BATON_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

/// From long_words on there are other rounds, of 16 words a thread.
TEST(ReduceBlock, GivesTheSameOfLongParts) {
    const std::uint64_t seed = drawn_seed();
    for (const std::size_t words : {core::long_words - 1, core::long_words, core::long_words + 3 * threads + 5})
        expect_reduced<float, true>(BATON_FLOAT32, BATON_SUM, 4, words * 4 + 1, seed);
}

TEST(ReduceBlock, GivesTheSameInEveryRound) {
    const std::uint64_t seed = drawn_seed();
    expect_reduced_in_rounds<float>(BATON_FLOAT32, seed);
    expect_reduced_in_rounds<core::BFloat16>(BATON_BFLOAT16, seed);
    expect_reduced_in_rounds<std::int8_t>(BATON_INT8, seed);
}

}  // namespace
}  // namespace baton::emulation
