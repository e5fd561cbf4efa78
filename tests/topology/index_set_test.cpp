#include "topology/index_set.hpp"

#include <gtest/gtest.h>

namespace baton::topology {
namespace {

std::string list_of(std::string_view mask) {
    const auto set = IndexSet::from_mask(mask);
    return set ? set->to_list() : "refused";
}

TEST(IndexSet, Masks) {
    EXPECT_EQ(list_of("0x0000000f"), "0-3");
    EXPECT_EQ(list_of("0x00000001,0x80000001"), "0,31-32");
    EXPECT_EQ(list_of("0x00000001,,0x00000001"), "0,64");  // hwloc leaves groups of zeros out
    EXPECT_EQ(list_of("ff,00000000"), "32-39");            // Linux and NCCL
    EXPECT_EQ(list_of("0x0"), "");
    EXPECT_EQ(list_of(""), "");
}

TEST(IndexSet, RefusedMasks) {
    for (const char *text : {"0xf...f", "0xfffffffff", "0xg", "-1", "1 ", "0x"}) EXPECT_EQ(list_of(text), "refused");
    EXPECT_EQ(list_of("0x1" + std::string(3000, ',')), "refused");  // a member beyond any machine
    EXPECT_EQ(list_of(std::string(100'000, '0')), "refused");
}

TEST(IndexSet, Lists) {
    for (const char *text : {"", "0", "0-3,8", "1,3,5-64", "8191"})
        EXPECT_EQ(IndexSet::from_list(text).value().to_list(), text);
    for (const char *text : {"3-1", "0,0", "2,1", "a", "1-", "-1", "8192", "1,,2", "0-3 "})
        EXPECT_FALSE(IndexSet::from_list(text)) << text;
}

TEST(IndexSet, MasksAreWrittenAsRead) {
    for (const char *text : {"0x0000000f", "0x00000001,0x80000001", "0x00000001,0x00000000,0x00000001", "0x0"})
        EXPECT_EQ(IndexSet::from_mask(text).value().to_mask(), text);
}

TEST(IndexSet, Intersection) {
    const auto both = [](const char *one, const char *other) {
        return IndexSet::from_list(one)->intersection(IndexSet::from_list(other).value());
    };
    EXPECT_EQ(both("0-9,40", "5-70").to_list(), "5-9,40");
    EXPECT_EQ(both("0-70", "3"), IndexSet::from_list("3"));
    EXPECT_TRUE(both("0-3,64", "4-63").empty());
}

TEST(IndexSet, Contains) {
    const auto set = [](const char *list) { return *IndexSet::from_list(list); };
    EXPECT_TRUE(set("0-7,64").contains(set("3,64")));
    EXPECT_TRUE(set("0-7").contains(set("")));
    EXPECT_FALSE(set("0-7").contains(set("64")));
    EXPECT_FALSE(set("0-7").contains(set("6-8")));
}

TEST(IndexSet, Intersections) {
    const IndexSet low = *IndexSet::from_list("0-40"), high = *IndexSet::from_list("40-80"),
                   far = *IndexSet::from_list("81");
    EXPECT_TRUE(low.intersects(high));
    EXPECT_FALSE(low.intersects(far));
    EXPECT_FALSE(low.intersects(IndexSet()));
    IndexSet both = low;
    both.insert(high);
    EXPECT_EQ(both.to_list(), "0-80");
}

}  // namespace
}  // namespace baton::topology
