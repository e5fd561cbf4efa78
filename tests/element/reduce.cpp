#include "transport/element/reduce.hpp"

#include <gtest/gtest.h>

#include "cases.hpp"
#include "reduce_reference.hpp"
#include "transport/element/dispatch.hpp"
#include "transport/host/move.hpp"

namespace baton::test {
namespace {

constexpr std::uint64_t seed = 1;

/// Compares one call of reduce_block() with the reference, element by element; other bytes must not change. With
/// `in_place` the destination is source 0.
template <class T>
void check_reduce(int op, int sources, std::size_t count, Placement placement, bool in_place) {
    std::mt19937_64 random(seed + count);
    const Layout layout(sources + 1, count * sizeof(T), placement);
    Bytes memory(layout.size(), 0xA5);
    std::vector<const T *> from;
    for (int s = 0; s < sources; ++s) {
        fill_random<T>(memory.data() + layout.at(s), count, random);
        from.push_back(reinterpret_cast<const T *>(memory.data() + layout.at(s)));
    }
    const std::size_t to = layout.at(in_place ? 0 : sources);
    Bytes expected = memory;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<T> elements(static_cast<std::size_t>(sources));
        for (int s = 0; s < sources; ++s) {
            std::memcpy(&elements[static_cast<std::size_t>(s)], memory.data() + layout.at(s) + i * sizeof(T),
                        sizeof(T));
        }
        const T result = reference_reduce<T>(op, elements);
        std::memcpy(expected.data() + to + i * sizeof(T), &result, sizeof(T));
    }
    core::reduce_block<T>(reinterpret_cast<T *>(memory.data() + to), from.data(), sources, count, op);
    EXPECT_TRUE(memory == expected) << sources << " sources, " << count << " elements, " << describe(placement)
                                    << ", in place " << in_place;
}

class ReduceBlock : public ::testing::TestWithParam<int> {};

TEST_P(ReduceBlock, EqualsTheReference) {
    core::dispatch_type(static_cast<baton_type>(GetParam()), [&]<class T>() {
        for (int op = 0; op < BATON_OP_COUNT; ++op) {
            if (!core::op_defined(static_cast<baton_type>(GetParam()), static_cast<baton_op>(op))) continue;
            SCOPED_TRACE(op);
            for (const int sources : {1, 2, 3, 8, 9}) {
                for (const std::size_t count : {0, 1, 3, 17, 511, 513}) {
                    check_reduce<T>(op, sources, count, {0, 0}, false);
                    check_reduce<T>(op, sources, count, {sizeof(T), 0}, true);
                }
            }
            for (std::size_t offset = 1; offset <= 16; ++offset) {
                check_reduce<T>(op, 3, 37, {offset, 0}, false);
                check_reduce<T>(op, 3, 37, {offset, 1}, true);
                check_reduce<T>(op, 3, 37, {0, offset}, true);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Types, ReduceBlock, ::testing::Range(0, static_cast<int>(BATON_TYPE_COUNT)));

TEST(ReduceBlock, RanksAreTakenInOrder) {
    // 2^24 + 1 + 1 is 2^24 in fp32, but 1 + 1 + 2^24 is not.
    const float big = 16777216.0F;
    const float one = 1.0F;
    float result = 0;
    const float *big_first[] = {&big, &one, &one};
    core::reduce_block<float>(&result, big_first, 3, 1, BATON_SUM);
    EXPECT_EQ(result, big);
    const float *big_last[] = {&one, &one, &big};
    core::reduce_block<float>(&result, big_last, 3, 1, BATON_SUM);
    EXPECT_EQ(result, big + 2.0F);
}

TEST(ReduceBlock, MinAndMaxKeepTheEarlierRank) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float values[] = {nan, 1.0F, -0.0F, 0.0F};
    float result = 0;
    for (const int op : {BATON_MIN, BATON_MAX}) {
        const float *nan_first[] = {&values[0], &values[1]};
        core::reduce_block<float>(&result, nan_first, 2, 1, op);
        EXPECT_TRUE(std::isnan(result));
        const float *nan_later[] = {&values[1], &values[0]};
        core::reduce_block<float>(&result, nan_later, 2, 1, op);
        EXPECT_EQ(result, 1.0F);
        const float *zeros[] = {&values[2], &values[3]};
        core::reduce_block<float>(&result, zeros, 2, 1, op);
        EXPECT_TRUE(std::signbit(result));
    }
}

/// The bits of what the elements, one of each rank, are reduced to.
template <class T, class Bits>
Bits reduced(int op, const std::vector<Bits> &elements) {
    std::vector<T> values(elements.size());
    std::vector<const T *> from;
    for (std::size_t i = 0; i < elements.size(); ++i) from.push_back(&(values[i] = std::bit_cast<T>(elements[i])));
    T result{};
    core::reduce_block<T>(&result, from.data(), static_cast<int>(from.size()), 1, op);
    return std::bit_cast<Bits>(result);
}

/// As baton.h defines them: the sign clear, all other bits set.
TEST(ReduceBlock, NaNsAreCanonical) {
    constexpr std::uint32_t nan = 0xFFC12345, infinity = 0x7F800000, one = 0x3F800000;
    for (const int op : {BATON_SUM, BATON_PROD, BATON_AVG}) {
        EXPECT_EQ((reduced<float, std::uint32_t>(op, {nan})), 0x7FFFFFFFU);
        EXPECT_EQ((reduced<float, std::uint32_t>(op, {nan, one})), 0x7FFFFFFFU);
        EXPECT_EQ((reduced<float, std::uint32_t>(op, {one, nan, nan})), 0x7FFFFFFFU);
        EXPECT_EQ((reduced<double, std::uint64_t>(op, {0x3FF0000000000000U, 0xFFF8000000000001U})),
                  0x7FFFFFFFFFFFFFFFU);
    }
    EXPECT_EQ((reduced<float, std::uint32_t>(BATON_SUM, {infinity, infinity | 0x80000000U})), 0x7FFFFFFFU);
    EXPECT_EQ((reduced<float, std::uint32_t>(BATON_PROD, {infinity, 0})), 0x7FFFFFFFU);
    for (const int op : {BATON_SUM, BATON_PROD, BATON_MIN, BATON_MAX, BATON_AVG}) {
        EXPECT_EQ((reduced<core::Float16, std::uint16_t>(op, {0xFE01, 0x3C00})), 0x7FFF);
        EXPECT_EQ((reduced<core::BFloat16, std::uint16_t>(op, {0xFFC1, 0x3F80})), 0x7FFF);
        EXPECT_EQ((reduced<core::Float8E4M3, std::uint8_t>(op, {0xFF, 0x38})), 0x7F);
        EXPECT_EQ((reduced<core::Float8E5M2, std::uint8_t>(op, {0xFD, 0x3C})), 0x7F);
    }
    for (const int op : {BATON_MIN, BATON_MAX}) {
        EXPECT_EQ((reduced<float, std::uint32_t>(op, {nan, one})), nan) << "the element's own";
        EXPECT_EQ((reduced<double, std::uint64_t>(op, {0xFFF8000000000001U, 0})), 0xFFF8000000000001U);
    }
}

}  // namespace
}  // namespace baton::test
