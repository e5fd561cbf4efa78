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
#include "transport/kernel/move.cuh"

namespace baton::emulation {
namespace {

constexpr unsigned threads = 64;

template <class T>
void expect_reduced(baton_type type, std::uint64_t seed) {
    for (const int ranks : {1, 2, 3, 4, 8, 9}) {
        // A round is of eight words a thread, all sources together, where their number is known.
        const std::size_t round = threads * std::max<std::size_t>(1, 8 / static_cast<std::size_t>(ranks)) * 16;
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{16}, round - 16, round, round + 16, 2 * round - 32,
                                        2 * round + 16 * threads, 3 * round + 8}) {
            for (const baton_op op : {BATON_SUM, BATON_PROD, BATON_MIN, BATON_MAX, BATON_AVG}) {
                if (!core::op_defined(type, op)) continue;
                const std::size_t count = bytes / sizeof(T);
                test::Buffers inputs = test::all_patterns(seed + bytes, ranks, count * sizeof(T));
                const std::vector<std::byte> expected = test::expected_reduction(inputs, count, type, op);
                std::vector<std::byte> result(count * sizeof(T), std::byte{0xEE});
                std::vector<const T *> sources;
                for (const auto &input : inputs) sources.push_back(reinterpret_cast<const T *>(input.data()));
                T *const destinations[1] = {reinterpret_cast<T *>(result.data())};
                run_grid(1, threads, seed,
                         [&] { core::reduce_block<T>(destinations, 1, sources.data(), ranks, count, op); });
                ASSERT_TRUE(test::equal_bytes(expected, result))
                    << fmt::format("{} {} of {} ranks, {}", count, baton_type_name(type), ranks, baton_op_name(op));
            }
        }
    }
}

TEST(ReduceBlock, GivesTheSameInEveryRound) {
    const std::uint64_t seed = test::draw_seed();
    std::printf("BATON_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    expect_reduced<float>(BATON_FLOAT32, seed);
    expect_reduced<core::BFloat16>(BATON_BFLOAT16, seed);
    expect_reduced<std::int8_t>(BATON_INT8, seed);
}

}  // namespace
}  // namespace baton::emulation
