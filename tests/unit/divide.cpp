#include "util/divide.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace baton::core {
namespace {

TEST(Divide, RoundsUp) {
    EXPECT_EQ(ceil_divide(0, 7), 0U);
    EXPECT_EQ(ceil_divide(1, 7), 1U);
    EXPECT_EQ(ceil_divide(7, 7), 1U);
    EXPECT_EQ(ceil_divide(8, 7), 2U);
}

TEST(Divide, WhereTheSumWouldNotFit) {
    constexpr std::uint64_t half = std::uint64_t{1} << 31, most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(ceil_divide(half - 1, half - 1), 1U);
    EXPECT_EQ(ceil_divide(half - 1, 2), half / 2);
    EXPECT_EQ(ceil_divide(half, half), 1U);
    EXPECT_EQ(ceil_divide(2 * half + 1, 2), half + 1);
    EXPECT_EQ(ceil_divide(1, most), 1U);
    EXPECT_EQ(ceil_divide(most, 1), most);
    EXPECT_EQ(ceil_divide(most, 2), most / 2 + 1);
    EXPECT_EQ(ceil_divide(most, most), 1U);
    EXPECT_EQ(ceil_divide(most - 1, most), 1U);
}

TEST(Divide, RoundsUpToMultiples) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(round_up(0, 8), 0U);
    EXPECT_EQ(round_up(1, 8), 8U);
    EXPECT_EQ(round_up(8, 8), 8U);
    EXPECT_EQ(round_up(9, 8), 16U);
    EXPECT_EQ(round_up(9, 5), 10U);
    EXPECT_EQ(round_up(most - 8, 8), most - 7);
    EXPECT_EQ(round_up(most, 5), most);
}

}  // namespace
}  // namespace baton::core
