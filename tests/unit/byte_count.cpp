#include "util/byte_count.hpp"

#include <gtest/gtest.h>

namespace baton::core {
namespace {

TEST(ByteCount, UnitsArePowersOf1024InAnyCase) {
    EXPECT_EQ(parse_byte_count("0"), 0u);
    EXPECT_EQ(parse_byte_count("4096"), 4096u);
    for (const char *same : {"65536", "64K", "64k", "64KB", "64kb", "64KiB", "64kib"})
        EXPECT_EQ(parse_byte_count(same), 65536u) << same;
    EXPECT_EQ(parse_byte_count("3M"), 3u << 20);
    EXPECT_EQ(parse_byte_count("1g"), 1u << 30);
    EXPECT_EQ(parse_byte_count("2TiB"), std::uint64_t{2} << 40);
}

TEST(ByteCount, WhatIsTooLargeIsTheLargest) {
    for (const char *huge : {"18446744073709551615", "18446744073709551616", "99999999999999999999G", "16777216T"})
        EXPECT_EQ(parse_byte_count(huge), UINT64_MAX) << huge;
    EXPECT_EQ(parse_byte_count("16777215T"), std::uint64_t{16777215} << 40);
}

TEST(ByteCount, AnythingElseIsNone) {
    for (const char *wrong : {"", " 1", "1 ", "-1", "+1", "K", "1B", "1i", "1Ki", "1KiBs", "1KK", "1.5K", "0x10", "1P"})
        EXPECT_FALSE(parse_byte_count(wrong)) << wrong;
}

}  // namespace
}  // namespace baton::core
