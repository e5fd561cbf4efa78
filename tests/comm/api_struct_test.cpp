// Structs of the API that pass between programs and libraries of different versions. Today's structs are those of 0.1,
// so one that has grown stands for a later library's.
#include "comm/api_struct.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace {

struct First {
    std::size_t struct_size;
    int known;
};
struct Grown {
    std::size_t struct_size;
    int known;
    double later = -1;
};

}  // namespace

template <>
inline constexpr std::size_t baton::core::first_struct_bytes<Grown> = sizeof(First);

namespace baton::core {
namespace {

const Grown unset{.struct_size = 0, .known = -1, .later = -1};

TEST(ApiStruct, OfAnOlderProgramHasLaterFieldsUnset) {
    const First program{.struct_size = sizeof(First), .known = 7};
    Grown behind{};  // what lies behind the program's struct in memory is no field
    std::memcpy(static_cast<void *>(&behind), &program, sizeof(program));
    behind.later = 5;
    const Grown ours = from_program(&behind, unset);
    EXPECT_EQ(ours.struct_size, sizeof(Grown));
    EXPECT_EQ(ours.known, 7);
    EXPECT_EQ(ours.later, -1);
}

TEST(ApiStruct, OfANewerProgramKeepsWhatIsKnown) {
    struct {
        Grown known;
        int newest;
    } program{.known = {.struct_size = sizeof(program), .known = 7, .later = 5}, .newest = 9};
    const Grown ours = from_program(&program.known, unset);
    EXPECT_EQ(ours.struct_size, sizeof(Grown));
    EXPECT_EQ(ours.known, 7);
    EXPECT_EQ(ours.later, 5);
}

TEST(ApiStruct, GivesAnOlderProgramNoMoreThanItKnows) {
    Grown program{.struct_size = 0, .known = 0, .later = 3};
    to_program(&program, sizeof(First), Grown{.struct_size = sizeof(Grown), .known = 7, .later = 5});
    EXPECT_EQ(program.struct_size, sizeof(First));
    EXPECT_EQ(program.known, 7);
    EXPECT_EQ(program.later, 3) << "written behind the program's struct";
}

TEST(ApiStruct, GivesANewerProgramZerosBehindWhatIsKnown) {
    struct {
        Grown known;
        int newest;
    } program{.known = {}, .newest = 9};
    to_program(&program.known, sizeof(program), Grown{.struct_size = sizeof(Grown), .known = 7, .later = 5});
    EXPECT_EQ(program.known.struct_size, sizeof(program));
    EXPECT_EQ(program.known.later, 5);
    EXPECT_EQ(program.newest, 0);
}

TEST(ApiStruct, SizesOfPrograms) {
    EXPECT_FALSE(may_be_struct_size<Grown>(0));
    EXPECT_FALSE(may_be_struct_size<Grown>(sizeof(First) - 1));
    EXPECT_TRUE(may_be_struct_size<Grown>(sizeof(First)));
    EXPECT_TRUE(may_be_struct_size<Grown>(sizeof(Grown)));
    EXPECT_TRUE(may_be_struct_size<Grown>(most_struct_bytes));
    EXPECT_FALSE(may_be_struct_size<Grown>(most_struct_bytes + 1));
}

TEST(ApiStruct, EndsWithItsLastField) {
    EXPECT_EQ(offsetof(baton_config, topology) + sizeof(baton_config::topology), sizeof(baton_config));
    EXPECT_EQ(offsetof(baton_info, links) + sizeof(baton_info::links), sizeof(baton_info));
}

/// Programs of 0.1 pass these sizes.
TEST(ApiStruct, FirstSizesStay) {
    EXPECT_EQ(first_struct_bytes<baton_config>, offsetof(baton_config, topology) + sizeof(const char *));
    EXPECT_EQ(first_struct_bytes<baton_info>, offsetof(baton_info, links) + sizeof(baton_info::links));
}

}  // namespace
}  // namespace baton::core
