#include "util/fixed_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace baton::core {
namespace {

/// What `text` becomes in a field that has room for `most` bytes and the zero.
std::string at_most(const std::string &text, std::size_t most) {
    std::string field(most + 2, '#');
    copy_text(field.data(), most + 1, text);
    EXPECT_EQ(field.back(), '#') << "written behind the field";
    return field.c_str();
}

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
    EXPECT_EQ(at_most("abcdef", 0), "");
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
