// What baton_perf makes of its command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "names.hpp"
#include "parsed.hpp"
#include "perf/options.hpp"

namespace baton::bench::perf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Parsed<Options> parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "baton_perf");
    return parsed_by(&parse_options, std::move(arguments));
}

TEST(PerfOptions, AnUnknownTypeListsTheTypes) {
    const Parsed<Options> parsed = parse({"--type", "float32,nonsense"});
    EXPECT_FALSE(parsed.options);
    EXPECT_EQ(parsed.exit_code, 2);
    EXPECT_THAT(parsed.errors, HasSubstr("does not know \"nonsense\"; it takes all, "));
    for (const baton_type type : all_types()) {
        EXPECT_THAT(parsed.errors, HasSubstr(baton_type_name(type)));
    }
}

TEST(PerfOptions, TypesByAnyOfTheirNames) {
    const Parsed<Options> parsed = parse({"--type", "half,MPI_FLOAT,float32,int8"});
    ASSERT_TRUE(parsed.options) << parsed.errors;
    EXPECT_THAT(parsed.options->types, ElementsAre(BATON_FLOAT16, BATON_FLOAT32, BATON_INT8));
    const Parsed<Options> all = parse({"--type", "All"});
    ASSERT_TRUE(all.options) << all.errors;
    EXPECT_EQ(all.options->types, all_types());
}

TEST(PerfOptions, AnAverageOfIntegersIsRefusedAsThat) {
    for (const char *against : {"", "nccl"}) {
        std::vector<std::string> arguments{"--type", "int32,uint8", "--redop", "avg", "--op", "allgather,allreduce"};
        if (*against != '\0') {
            arguments.insert(arguments.end(), {"--against", against});
        }
        const Parsed<Options> parsed = parse(arguments);
        EXPECT_FALSE(parsed.options);
        EXPECT_EQ(parsed.exit_code, 2);
        EXPECT_THAT(parsed.errors, HasSubstr("--redop: allreduce has no avg of int32: averages are of floating-point"));
    }
    EXPECT_TRUE(parse({"--type", "int32", "--redop", "avg", "--op", "allgather"}).options);
    EXPECT_TRUE(parse({"--type", "int32,float32", "--redop", "avg"}).options);
    EXPECT_TRUE(parse({"--type", "int32", "--redop", "avg,max"}).options);
}

TEST(PerfOptions, WhatWouldBePassedOverIsRefused) {
    const std::vector<std::pair<std::vector<std::string>, const char *>> cases{
        {{"--device", "host,cuda"}, "--device: host,cuda not in {auto,cuda,host}"},
        {{"--against", ""}, "--against: the value is empty"},
        {{"--json="}, "--json: the value is empty"},
        {{"--min", "", "--max", "1K"}, "--min: the value is empty"},
        {{"--mpi-max", "4K"}, "--mpi-max: is for --against mpi"},
        {{"--against", "nccl", "--mpi-max", "4K"}, "--mpi-max: is for --against mpi"},
        {{"--nccl-library", "x.so"}, "--nccl-library: is for --against nccl"},
        {{"--against", "mpi", "--nccl-library", "x.so"}, "--nccl-library: is for --against nccl"},
        {{"--warmup", "0", "--budget", "0.1"}, "--budget: needs --warmup, whose calls tell how many fit"},
        {{"--json", "-"}, "/dev/stdout is the standard output"},
        {{"--op", "put,get", "--inplace", "yes"}, "--inplace: put is never in place"}};
    for (const auto &[arguments, message] : cases) {
        const Parsed<Options> parsed = parse(arguments);
        EXPECT_FALSE(parsed.options) << message;
        EXPECT_EQ(parsed.exit_code, 2) << message;
        EXPECT_THAT(parsed.errors, HasSubstr(message));
    }
    EXPECT_TRUE(parse({"--against", "mpi", "--mpi-max", "4K", "--json", "x.json"}).options);
    EXPECT_TRUE(parse({"--against", "mpi,nccl_symmetric", "--nccl-library", "x.so"}).options);
    EXPECT_TRUE(parse({"--warmup", "0", "--budget", "0"}).options);
    EXPECT_TRUE(parse({"--warmup", "0", "--against", "mpi"}).options);
    EXPECT_TRUE(parse({"--op", "put,allreduce", "--inplace", "yes"}).options);
    EXPECT_TRUE(parse({"--op", "put", "--inplace", "both"}).options);
}

TEST(PerfOptions, SizesStayWhereTheirSumsDoNotOverflow) {
    EXPECT_EQ(parse_size("256T"), largest_size);
    for (const char *too_large : {"257T", "281474976710657", "18446744073709551615"}) {
        EXPECT_FALSE(parse_size(too_large)) << too_large;
        EXPECT_EQ(parse({"--min", too_large, "--max", too_large}).exit_code, 2);
    }
}

TEST(PerfOptions, TheCommandCanBeRepeated) {
    const Parsed<Options> parsed =
        parse({"--json", "it's all.json", "--op=put,get", "--nccl-library", "$HOME/x", "--against", "nccl"});
    ASSERT_TRUE(parsed.options) << parsed.errors;
    EXPECT_EQ(parsed.options->command,
              "baton_perf --json 'it'\\''s all.json' --op=put,get --nccl-library '$HOME/x' --against nccl");
}

TEST(PerfOptions, ABudgetIsANumberFromZeroOn) {
    EXPECT_EQ(parse({"--budget", "0"}).exit_code, 0);
    for (const char *wrong : {"-1", "nan", "inf", "long"}) {
        const Parsed<Options> parsed = parse({"--budget", wrong});
        EXPECT_EQ(parsed.exit_code, 2);
        EXPECT_THAT(parsed.errors, HasSubstr("--budget: takes a number from 0 on, not \"" + std::string(wrong) + "\""));
    }
}

}  // namespace
}  // namespace baton::bench::perf
