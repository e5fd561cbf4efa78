// What baton_tune makes of its command line and of measured times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "collectives/tuning_file.hpp"
#include "collectives/tuning_key.hpp"
#include "environment.hpp"
#include "parsed.hpp"
#include "tune/options.hpp"
#include "tune/report.hpp"
#include "tune/rows.hpp"

namespace baton::bench::tune {
namespace {

using core::Algorithm;
using core::Mover;
using core::TuningRow;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> names(const std::vector<Candidate> &candidates) {
    std::vector<std::string> all;
    for (const Candidate &candidate : candidates) {
        all.push_back(name_of(candidate));
    }
    return all;
}

TEST(TuneCandidates, AreTheWaysOfTheMemoryWithPowersOfTwoOfChannels) {
    EXPECT_THAT(
        names(candidates_for(BATON_ALLGATHER, Ranks::on_gpus, 2, 6, true)),
        ElementsAre("packet by kernel, 1 channel", "packet by kernel, 2 channels", "packet by kernel, 4 channels",
                    "packet by kernel", "line by kernel, 1 channel", "line by kernel, 2 channels",
                    "line by kernel, 4 channels", "line by kernel", "push by kernel, 1 channel",
                    "push by kernel, 2 channels", "push by kernel, 4 channels", "push by kernel", "push by copy_engine",
                    "ring by kernel, 1 channel", "ring by kernel, 2 channels", "ring by kernel, 4 channels",
                    "ring by kernel", "two_level by kernel, 1 channel", "two_level by kernel, 2 channels",
                    "two_level by kernel, 4 channels", "two_level by kernel"));
    EXPECT_THAT(names(candidates_for(BATON_PUT, Ranks::on_gpus, 2, 1, false)), ElementsAre("direct by kernel"));
    EXPECT_THAT(
        names(candidates_for(BATON_SEND, Ranks::on_gpus, 2, 2, true)),
        ElementsAre("push by kernel, 1 channel", "push by kernel", "push by copy_engine", "line by kernel, 1 channel",
                    "line by kernel", "packet by kernel, 1 channel", "packet by kernel"));
    EXPECT_THAT(names(candidates_for(BATON_ALLREDUCE, Ranks::on_host, 2, 1, false)),
                ElementsAre("packet by host", "line by host", "pull by host", "two_shot by host",
                            "two_shot_line by host", "chain by host", "two_level by host", "staged by host"));
}

TEST(TuneCandidates, ServeSoManyRanks) {
    const auto by_copy_engine = [](int ranks) {
        return names(candidates_for(BATON_REDUCE_SCATTER, Ranks::on_gpus, ranks, 1, true));
    };
    EXPECT_THAT(by_copy_engine(2), Contains("push by copy_engine"));
    EXPECT_THAT(by_copy_engine(3), Not(Contains("push by copy_engine")));
}

TEST(TuneCandidates, OfGpusApartGoThroughHostMemory) {
    EXPECT_THAT(names(candidates_for(BATON_REDUCE_SCATTER, Ranks::on_gpus_apart, 2, 2, true)),
                ElementsAre("packet by kernel, 1 channel", "packet by kernel", "staged by kernel, 1 channel",
                            "staged by kernel"));
    EXPECT_THAT(names(candidates_for(BATON_SEND, Ranks::on_gpus_apart, 2, 1, true)),
                ElementsAre("packet by kernel", "staged by kernel"));
    EXPECT_THAT(names(candidates_for(BATON_GET, Ranks::on_gpus_apart, 2, 1, true)), ElementsAre("direct by kernel"));
}

core::Plan plan(Algorithm algorithm, Mover mover, int channels) {
    return {.algorithm = algorithm, .mover = mover, .channels = channels};
}

TEST(TuneCandidates, AreKnownByTheirPlan) {
    Candidate push;
    push.algorithm = Algorithm::push;
    push.mover = Mover::kernel;
    EXPECT_TRUE(runs_as(push, plan(Algorithm::push, Mover::kernel, 8)));
    EXPECT_FALSE(runs_as(push, plan(Algorithm::push, Mover::host, 8)));
    EXPECT_FALSE(runs_as(push, plan(Algorithm::packet, Mover::kernel, 8)));
    push.channels = 8;
    EXPECT_TRUE(runs_as(push, plan(Algorithm::push, Mover::kernel, 8)));
    EXPECT_FALSE(runs_as(push, plan(Algorithm::push, Mover::kernel, 16)));
    EXPECT_EQ(name_of(plan(Algorithm::push, Mover::kernel, 16)), "push by kernel, 16 channels");
    EXPECT_EQ(name_of(plan(Algorithm::push, Mover::copy_engine, 1)), "push by copy_engine, 1 channel");
}

TEST(TuneCandidates, AreTheRowsOfPlansToo) {
    Candidate row{.algorithm = Algorithm::push, .mover = Mover::kernel, .channels = 8};
    EXPECT_EQ(row_of(plan(Algorithm::push, Mover::kernel, 8), 32), row);
    row.channels = 0;
    EXPECT_EQ(row_of(plan(Algorithm::push, Mover::kernel, 32), 32), row) << "all that there are";
    row = {.algorithm = Algorithm::staged, .mover = Mover::host};
    EXPECT_EQ(row_of(plan(Algorithm::staged, Mover::host, 1), 1), row);
}

TEST(TuneCandidates, BecomeATableOfOneRow) {
    const core::TuningKey key{"NVIDIA H200", "NVSwitch", 8};
    for (const Candidate &candidate : candidates_for(BATON_REDUCE_SCATTER, Ranks::on_gpus, 2, 4, true)) {
        const auto tables = core::parse_tuning(tuning_with(key, BATON_REDUCE_SCATTER, candidate), "text");
        ASSERT_EQ(tables.size(), 1u);
        EXPECT_EQ(tables[0].key, key);
        EXPECT_THAT(tables[0].operations.at(BATON_REDUCE_SCATTER), ElementsAre(candidate));
    }
}

TEST(TuneCandidates, EveryOperationOfTheTableIsMeasured) {
    for (const core::OperationWays &entry : core::tuned_operations()) {
        EXPECT_THAT(tuned_kinds(), Contains(testing::Field(&Tuned::operation, entry.operation)));
    }
}

TEST(TuneSizes, ArePowersOfTwoUpToTheLargest) {
    EXPECT_THAT(sizes_for(BATON_ALLGATHER, 2047), ElementsAre(256, 512, 1024));
    EXPECT_THAT(sizes_for(BATON_ALLGATHER, 2048), ElementsAre(256, 512, 1024, 2048));
    EXPECT_EQ(sizes_for(BATON_SEND, 32768), sizes_for(BATON_ALLGATHER, 32768));
    EXPECT_THAT(sizes_for(BATON_SEND, 32767), IsEmpty()) << "all are buffered";
    EXPECT_EQ(sizes_for(BATON_ALLGATHER, SIZE_MAX).back(), std::size_t{1} << 63);
}

/// The rows derived from three candidates, which are told apart by their 1, 2 and 3 channels, and the candidate chosen
/// for each sample.
struct Derived {
    std::vector<TuningRow> rows;
    std::vector<std::size_t> chosen;

    explicit Derived(const std::vector<std::vector<double>> &times, double noise = 0.02,
                     const std::vector<std::optional<std::size_t>> &in_force = {}) {
        std::vector<Sample> samples;
        for (const std::vector<double> &of_size : times) {
            const std::size_t index = samples.size();
            samples.push_back(
                {std::size_t{256} << index, {}, index < in_force.size() ? in_force[index] : std::nullopt});
            for (const double seconds : of_size) {
                samples.back().seconds.push_back(seconds > 0 ? std::optional(seconds) : std::nullopt);
            }
        }
        std::vector<Candidate> candidates(3);
        for (int index = 0; index < 3; ++index) {
            candidates[static_cast<std::size_t>(index)].channels = index + 1;
        }
        rows = derive_rows(candidates, samples, noise, chosen);
    }
    std::vector<std::pair<std::uint64_t, int>> text() const {
        std::vector<std::pair<std::uint64_t, int>> all;
        for (const TuningRow &row : rows) {
            all.emplace_back(row.up_to_bytes, row.channels);
        }
        return all;
    }
};
constexpr double impossible = 0;

TEST(TuneRows, ChangeWhereAnotherOneWins) {
    const Derived derived({{1, 2, 3}, {2, 2.5, 3}, {4, 3, 3.5}, {8, 4, 4.5}});
    EXPECT_THAT(derived.text(), ElementsAre(std::pair(512, 1), std::pair(TuningRow::no_limit, 2)));
    EXPECT_THAT(derived.chosen, ElementsAre(0, 0, 1, 1));
}

TEST(TuneRows, DoNotChangeForNoise) {
    EXPECT_THAT(Derived({{1, 1.5, 2}, {1.01, 1, 2}, {1, 1.5, 2}}).text(),
                ElementsAre(std::pair(TuningRow::no_limit, 1)));
    EXPECT_EQ(Derived({{1, 1.5, 2}, {1.03, 1, 2}, {1, 1.5, 2}}).rows.size(), 3u);
    EXPECT_EQ(Derived({{1, 1.5, 2}, {1.03, 1, 2}, {1, 1.5, 2}}, 0.05).rows.size(), 1u);
}

TEST(TuneRows, OneThatIsGoodEverywhereNeedsNoOther) {
    EXPECT_THAT(Derived({{1, 2, 1.01}, {2, 1, 1.01}, {1, 2, 1.01}}).text(),
                ElementsAre(std::pair(TuningRow::no_limit, 3)));
    EXPECT_THAT(Derived({{1, 2, 0.99}, {2, 5, 1.99}}).text(), ElementsAre(std::pair(TuningRow::no_limit, 3)))
        << "of equals the faster";
}

TEST(TuneRows, KeepWhatIsInForceWithinTheNoise) {
    EXPECT_THAT(Derived({{1, 1.005, 0.99}, {1, 1.005, 0.99}, {1, 0.5, 0.99}}, 0.02, {1, 0, 0}).text(),
                ElementsAre(std::pair(256, 2), std::pair(512, 1), std::pair(TuningRow::no_limit, 2)))
        << "each where it is, however near the others";
    EXPECT_THAT(Derived({{2, 1, 1.01}, {1.01, 1, 1.01}}, 0.02, {0, 0}).chosen, ElementsAre(1, 0));
    EXPECT_THAT(Derived({{1, 0.99, 2}, {2, 1, 3}}, 0.02, {std::nullopt, 0}).chosen, ElementsAre(1, 1))
        << "no candidate is in force";
}

TEST(TuneRows, KeepWhatIsInForceWhereTheFasterOneDoesNotWinAgain) {
    constexpr double noise = 0.02;
    Sample sample{256, {1.0, 0.9, std::nullopt, 0.95}, 0};
    EXPECT_EQ(winner_of(sample, noise), 1U);
    EXPECT_EQ(winner_of({256, {1.0, 0.99}, 0}, noise), std::nullopt) << "as good";
    EXPECT_EQ(winner_of({256, {1.0, 0.9}, std::nullopt}, noise), std::nullopt) << "no candidate is in force";
    const std::vector<Candidate> candidates(4);
    std::vector<std::size_t> chosen;
    derive_rows(candidates, {sample}, noise, chosen);
    EXPECT_THAT(chosen, ElementsAre(1));
    sample.in_force_stays = true;
    derive_rows(candidates, {sample}, noise, chosen);
    EXPECT_THAT(chosen, ElementsAre(0));
}

TEST(TuneRows, LeaveOutWhatIsNotPossible) {
    EXPECT_THAT(Derived({{1, 2, impossible}, {impossible, 2, impossible}, {impossible, impossible, 3}}).text(),
                ElementsAre(std::pair(256, 1), std::pair(512, 2), std::pair(TuningRow::no_limit, 3)));
    EXPECT_TRUE(Derived({}).rows.empty());
}

TEST(TuneRows, AreRefusedWhereThereIsNothingToChooseFrom) {
    EXPECT_THROW(Derived({{1, 2, 3}, {impossible, impossible, impossible}}), Refusal);
    EXPECT_THROW(Derived({{1, 2, 3}}, std::nan("")), Refusal);
    EXPECT_THROW(Derived({{1, 2, 3}}, -0.5), Refusal);
}

TEST(TuneRows, KeepThoseOfLargerSizes) {
    const auto row = [](std::uint64_t up_to, int channels) {
        return TuningRow{.up_to_bytes = up_to, .channels = channels};
    };
    constexpr std::uint64_t open = TuningRow::no_limit;
    const std::vector<TuningRow> before{row(512, 9), row(4096, 8), row(open, 7)};
    EXPECT_THAT(continued({row(256, 1), row(open, 2)}, 1024, before),
                ElementsAre(row(256, 1), row(1024, 2), row(4096, 8), row(open, 7)));
    EXPECT_THAT(continued({row(open, 2)}, 4096, before), ElementsAre(row(4096, 2), row(open, 7)));
    EXPECT_THAT(continued({row(256, 1), row(open, 8)}, 1024, before),
                ElementsAre(row(256, 1), row(4096, 8), row(open, 7)))
        << "one row where both say the same";
    EXPECT_THAT(continued({row(open, 2)}, 8192, before), ElementsAre(row(8192, 2), row(open, 7)));
    EXPECT_THAT(continued({row(open, 2)}, 1024, {}), ElementsAre(row(open, 2)));
    EXPECT_THAT(continued({}, 0, before), IsEmpty());
}

TEST(TuneReport, SaysWhatChangedAndHowMuch) {
    Measured measured;
    measured.tuned = {BATON_ALLGATHER, Kind::allgather};
    measured.candidates = candidates_for(BATON_ALLGATHER, Ranks::on_host, 2, 1, false);
    // The times of packet, of pull, and of the last candidate.
    measured.samples = {{256, {1e-6, {}, 3e-6, {}, {}, {}, 4e-6}, 0}, {512, {4e-6, {}, 2e-6, {}, {}, {}, 4e-6}, 0}};
    ASSERT_EQ(measured.candidates.size(), measured.samples[0].seconds.size());
    const core::Plan packet = plan(Algorithm::packet, Mover::host, 1);
    measured.in_force = {{packet, 1e-6}, {packet, 4e-6}};
    std::vector<std::size_t> chosen;
    const auto rows = derive_rows(measured.candidates, measured.samples, 0.02, chosen);
    const std::vector<std::string> lines = report(measured, rows, chosen);
    EXPECT_EQ(lines[0], "# allgather");
    EXPECT_THAT(lines[3], testing::AllOf(HasSubstr("packet by host, 1 channel"), HasSubstr("the same")));
    EXPECT_THAT(lines[4], testing::AllOf(HasSubstr("512"), HasSubstr("2.00  pull by host")));
    EXPECT_THAT(lines[5], HasSubstr("changed at 1 of 2 sizes, at most 2.00 times"));
    EXPECT_EQ(lines[6], "#   up to 256: packet by host");
    EXPECT_EQ(lines[7], "#   larger: pull by host");
    Options options;
    options.graph = true;
    Versions versions;
    versions.baton = "9.9.9";
    versions.mpi = "MPI X";
    EXPECT_THAT(to_json(options, versions, core::host_tuning_key(2), {measured}),
                testing::AllOf(HasSubstr("\"plan\": \"packet by host, 1 channel\""), HasSubstr("\"pull by host\": 2.0"),
                               HasSubstr("\"mode\": \"graph\""), HasSubstr("\"baton_tune\": \"9.9.9\""),
                               HasSubstr("\"mpi\": \"MPI X\"")));
}

Parsed<Options> parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "baton_tune");
    return parsed_by(&parse_options, std::move(arguments));
}

TEST(TuneOptions, AreUnderstood) {
    const Parsed<Options> all = parse({});
    ASSERT_TRUE(all.options) << all.errors;
    EXPECT_EQ(all.options->operations.size(), tuned_kinds().size());
    const Parsed<Options> some =
        parse({"--op", "PUT,allgather,put", "--max", "64K", "--device", "host", "--dry-run", "--noise", "0.1"});
    ASSERT_TRUE(some.options) << some.errors;
    EXPECT_THAT(some.options->operations, ElementsAre(BATON_PUT, BATON_ALLGATHER));
    EXPECT_EQ(some.options->max_bytes, 65536u);
    EXPECT_EQ(some.options->device, Device::host);
    EXPECT_TRUE(some.options->dry_run);
    EXPECT_EQ(some.options->noise, 0.1);
}

TEST(TuneOptions, WrongOnesAreRefused) {
    const auto refused = [](const std::vector<std::string> &arguments, const std::string &text) {
        const Parsed<Options> parsed = parse(arguments);
        EXPECT_FALSE(parsed.options);
        EXPECT_EQ(parsed.exit_code, 2);
        EXPECT_THAT(parsed.errors, HasSubstr(text));
    };
    refused({"--op", "allgather,nonsense"}, "--op: does not know \"nonsense\"; it takes all, ");
    refused({"--op", "put", "--op", "get"}, "--op");
    refused({"--op", "put", "get"}, "get");
    refused({"--op", "recv"}, "recv");
    refused({"--max", "many"}, "many");
    refused({"--max", "255"}, "255");
    refused({"--rounds", "0"}, "--rounds");
    refused({"--noise", "2"}, "--noise");
    refused({"--device", "tpu"}, "--device: tpu not in {auto,cuda,host}");
    refused({"--device", "0"}, "--device");
    refused({"--budget", "0"}, "--budget: takes a number above 0, not \"0\"");
    refused({"--nonsense"}, "--nonsense");
    EXPECT_EQ(parse({"--version"}).exit_code, 0);
}

}  // namespace
}  // namespace baton::bench::tune
