// What baton_perf makes of its command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "names.hpp"
#include "perf/options.hpp"

namespace baton::bench::perf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Parsed {
    std::optional<Options> options;
    int exit_code = 0;
    std::string errors;
};

Parsed parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "baton_perf");
    std::vector<char *> pointers;
    for (std::string &argument : arguments) {
        pointers.push_back(argument.data());
    }
    Parsed parsed;
    testing::internal::CaptureStderr();
    parsed.options = parse_options(static_cast<int>(pointers.size()), pointers.data(), true, parsed.exit_code);
    parsed.errors = testing::internal::GetCapturedStderr();
    return parsed;
}

TEST(PerfOptions, AnUnknownTypeListsTheTypes) {
    const Parsed parsed = parse({"--type", "float32,nonsense"});
    EXPECT_FALSE(parsed.options);
    EXPECT_EQ(parsed.exit_code, 1);
    EXPECT_THAT(parsed.errors, HasSubstr("does not know \"nonsense\"; it takes all, "));
    for (const baton_type type : all_types()) {
        EXPECT_THAT(parsed.errors, HasSubstr(baton_type_name(type)));
    }
}

TEST(PerfOptions, TypesByAnyOfTheirNames) {
    const Parsed parsed = parse({"--type", "half,MPI_FLOAT,float32,int8"});
    ASSERT_TRUE(parsed.options) << parsed.errors;
    EXPECT_THAT(parsed.options->types, ElementsAre(BATON_FLOAT16, BATON_FLOAT32, BATON_INT8));
    const Parsed all = parse({"--type", "All"});
    ASSERT_TRUE(all.options) << all.errors;
    EXPECT_EQ(all.options->types, all_types());
}

}  // namespace
}  // namespace baton::bench::perf
