#include "util/fixed_text.hpp"

#include <gtest/gtest.h>

namespace baton::core {
namespace {

TEST(FixedText, WhatFitsIsWhole) {
    EXPECT_EQ(at_most("", 8), "");
    EXPECT_EQ(at_most("all fits", 8), "all fits");
}

TEST(FixedText, WhatDoesNotEndsAtAWordAndSaysSo) {
    EXPECT_EQ(at_most("it does not fit", 14), "it does ...");
    EXPECT_EQ(at_most("it does not fit", 11), "it does ...");
    EXPECT_EQ(at_most("a verylongwordindeed", 10), "a veryl...");
    EXPECT_EQ(at_most("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 6), "\xc3\xa4...");  // whole characters
    EXPECT_EQ(at_most("abcdef", 2), "ab");
}

TEST(FixedText, FieldsEndWithAZero) {
    char field[8];
    copy_text(field, "one two three");
    EXPECT_STREQ(field, "one ...");
    copy_text(field, "seven 7");
    EXPECT_STREQ(field, "seven 7");
}

}  // namespace
}  // namespace baton::core
