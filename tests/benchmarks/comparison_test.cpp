// What the comparison calculates: no ranks, no GPU.
#include "perf/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "kinds.hpp"
#include "limits/limits.hpp"
#include "perf/json.hpp"
#include "perf/lines.hpp"
#include "perf/sweep.hpp"
#include "statistics.hpp"

namespace baton::bench::perf {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Comparison, AllTakeTurnsToBeFirst) {
    EXPECT_THAT(round_order(1, 5), ElementsAre(0));
    EXPECT_THAT(round_order(2, 1), ElementsAre(1, 0));
    EXPECT_THAT(round_order(4, 0), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(round_order(4, 1), ElementsAre(1, 2, 3, 0));
    EXPECT_THAT(round_order(4, 3), ElementsAre(3, 0, 1, 2));
    EXPECT_THAT(round_order(4, 4), ElementsAre(0, 1, 2, 3));
}

TEST(Comparison, TheBestPeerIsTheFastestThatIsRight) {
    EXPECT_EQ(best_of({}), std::nullopt);
    EXPECT_EQ(best_of({std::nullopt, std::nullopt}), std::nullopt);
    EXPECT_EQ(best_of({3.0, std::nullopt, 2.0, 2.5}), 2U);
}

TEST(Comparison, CallsFitTheRound) {
    EXPECT_EQ(calls_for(0.02, 0.001, 500), 20);
    EXPECT_EQ(calls_for(0.02, 1e-6, 500), 500);
    EXPECT_EQ(calls_for(0.02, 3.0, 500), 1);
    EXPECT_EQ(calls_for(0.02, 0, 500), 500);
    // A peer makes as many calls as Baton while it is not much slower.
    EXPECT_EQ(calls_of_peer(0.02, 0.001, 20), 20);
    EXPECT_EQ(calls_of_peer(0.02, 0.004, 20), 20);
    EXPECT_EQ(calls_of_peer(0.02, 0.008, 20), 10);
    EXPECT_EQ(calls_of_peer(0.02, 0.0001, 20), 20);
}

TEST(Statistics, APercentileIsTheNearestRank) {
    for (const int size : {1, 7, 100, 1000}) {
        std::vector<double> values(static_cast<std::size_t>(size));
        std::iota(values.begin(), values.end(), 1);
        for (int percent = 1; percent <= 100; ++percent) {
            EXPECT_EQ(percentile(values, percent), (percent * size + 99) / 100) << percent << " of " << size;
        }
    }
}

TEST(Comparison, GeometricMean) {
    EXPECT_EQ(geometric_mean({}), 0);
    EXPECT_THAT(geometric_mean({3}), DoubleNear(3, 1e-12));
    EXPECT_THAT(geometric_mean({1, 2, 4}), DoubleNear(2, 1e-12));
    EXPECT_THAT(geometric_mean({0.5, 2}), DoubleNear(1, 1e-12));
}

TEST(Comparison, SizesAndSharesAreThoseOfNcclTests) {
    const Shape gather{Kind::allgather, BATON_FLOAT32, BATON_SUM, 100, InPlaceForm::no};
    EXPECT_EQ(table_bytes(gather, 8), 3200U);
    EXPECT_EQ(table_bytes({Kind::allreduce, BATON_FLOAT32, BATON_SUM, 100, InPlaceForm::no}, 8), 400U);
    EXPECT_EQ(count_for(Kind::reduce_scatter, BATON_FLOAT32, 3200, 8), 100U);
    EXPECT_EQ(count_for(Kind::pair, BATON_FLOAT32, 3200, 8), 800U);
    EXPECT_EQ(count_for(Kind::alltoall, BATON_FLOAT32, 3200, 8), 100U);
    EXPECT_EQ(table_bytes({Kind::alltoall, BATON_FLOAT32, BATON_SUM, 100, InPlaceForm::no}, 8), 3200U);
    EXPECT_EQ(send_elements({Kind::alltoall, BATON_FLOAT32, BATON_SUM, 100, InPlaceForm::no}, 8), 800U);
    EXPECT_EQ(count_for(Kind::broadcast, BATON_FLOAT32, 3200, 8), 800U);
    EXPECT_EQ(table_bytes({Kind::broadcast, BATON_FLOAT32, BATON_SUM, 100, InPlaceForm::no}, 8), 400U);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::allgather, 8), 7.0 / 8);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::allreduce, 8), 14.0 / 8);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::sendrecv, 8), 1);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::alltoall, 8), 7.0 / 8);
    EXPECT_DOUBLE_EQ(bus_factor(Kind::broadcast, 8), 1);
    for (const KindTraits &kind : all_kinds()) {
        EXPECT_STREQ(traits(kind.kind).name, kind.name) << "all_kinds() is not in the order of Kind";
    }
}

TEST(Comparison, ALimitIsLatencyAndTheBytesAtTheBandwidthOfTheirSize) {
    Limits limits;
    limits.launch = 3e-6;
    limits.flight = 1e-6;
    limits.copies[Traffic::ring] = {{1000, 4e9}, {100000, 1e9}};
    EXPECT_DOUBLE_EQ(limits.seconds(Traffic::ring, 800), 4e-6 + 800 / 4e9);
    EXPECT_DOUBLE_EQ(limits.seconds(Traffic::ring, 50000), 4e-6 + 50e-6);
    EXPECT_DOUBLE_EQ(limits.seconds(Traffic::ring, 1e6), 4e-6 + 1e-3);
    EXPECT_DOUBLE_EQ(limits.seconds(Traffic::none, 0), 4e-6);
    EXPECT_EQ(limits.seconds(Traffic::pairs, 800), 0) << "nobody measured it";
}

TEST(Comparison, ToAllRanksARankSendsAsFastAsToOne) {
    Limits limits;
    limits.copies[Traffic::ring] = {{1000, 4e9}, {100000, 1e9}};
    limits.copies[Traffic::all_pairs] = {{1000, 3e9}, {100000, 2e9}};
    EXPECT_EQ(limits.bandwidth(Traffic::all_pairs, 1000), 4e9);
    EXPECT_EQ(limits.bandwidth(Traffic::all_pairs, 100000), 2e9);
    EXPECT_EQ(limits.bandwidth(Traffic::ring, 100000), 1e9);
}

Options comparison() {
    Options options;
    options.operations = {Kind::allreduce, Kind::pair, Kind::barrier};
    options.types = {BATON_FLOAT32, BATON_INT32};
    options.ops = {BATON_SUM, BATON_AVG};
    options.modes = {Mode::eager, Mode::graph};
    options.in_place = {InPlaceForm::no};
    options.memories = {Memory::malloc};
    options.min_bytes = 1024;
    options.max_bytes = 16384;
    options.against = {PeerKind::nccl, PeerKind::mpi};
    return options;
}

TEST(Sweep, AComparisonHasATableForEachTypeAndReduction) {
    std::vector<std::string> names;
    for (const TableKey &key : tables(comparison(), MemorySpace::host)) {
        names.push_back(title(key, comparison()).substr(0, title(key, comparison()).find(", ")));
    }
    EXPECT_THAT(names, ElementsAre("allreduce: float32 sum", "allreduce: float32 avg", "allreduce: int32 sum",
                                   "pair: float32", "pair: int32", "barrier: eager"));
    EXPECT_EQ(tables(comparison(), MemorySpace::gpu).size(), 12U) << "graphs need GPUs";
    Options plain = comparison();
    plain.against.clear();
    EXPECT_EQ(tables(plain, MemorySpace::host).size(), 3U);
}

TEST(Sweep, BuffersAreEnoughForEveryShape) {
    const Options options = comparison();
    std::vector<Shape> all = shapes(tables(options, MemorySpace::host)[0], options, 4);
    ASSERT_EQ(all.size(), 3U);
    all.push_back({Kind::put, BATON_FLOAT32, BATON_SUM, 10, InPlaceForm::no});
    all.push_back({Kind::allgather, BATON_FLOAT32, BATON_SUM, 5000, InPlaceForm::no});
    const BufferBytes bytes = needed(all, 4);
    EXPECT_EQ(bytes.send, 20000U);
    EXPECT_EQ(bytes.recv, 80000U);
    EXPECT_EQ(bytes.window, 40U);
}

/// A row of Baton, a peer and one without a result.
Row row() {
    Row row;
    row.shape = {Kind::allreduce, BATON_FLOAT32, BATON_SUM, 256, InPlaceForm::no};
    row.bytes = 1024;
    row.own.calls = 20;
    row.own.times = {4e-6, 5e-6, 6e-6};
    row.own.median = 5e-6;
    row.own.p99 = 6e-6;
    row.own.host = 2e-6;
    row.peers.resize(2);
    row.peers[0] = row.own;
    row.peers[0].median = 8e-6;
    row.peers[1].absent = "cannot";
    row.best = 0;
    row.ratio = 1.6;
    row.limit = 4e-6;
    row.explanation = "packet by kernel\nmore";
    return row;
}

TEST(Comparison, TheRatioIsOfOneKindOfMemory) {
    Row mixed = row();
    mixed.peers[1] = mixed.own;
    mixed.peers[1].median = 2e-6;
    mixed.peers[1].other_memory = true;
    compare(mixed, {}, 2);
    EXPECT_EQ(mixed.best, 0U);
    EXPECT_DOUBLE_EQ(mixed.ratio, 1.6);
    mixed.peers[0].wrong = 1;
    compare(mixed, {}, 2);
    EXPECT_EQ(mixed.best, std::nullopt);
    EXPECT_EQ(mixed.ratio, 0);
    EXPECT_THAT(comparison_line(mixed, "", true), HasSubstr("2.00")) << "its column stays";
    mixed.peers[1].other_memory = false;
    compare(mixed, {}, 2);
    EXPECT_EQ(mixed.best, 1U);
}

TEST(Comparison, BetweenTwoRanksABroadcastGoesOneWay) {
    Limits limits;
    limits.copies[Traffic::all_pairs] = {{1000, 1e9}};
    limits.copies[Traffic::pairs] = {{1000, 2e9}};
    Row broadcast = row();
    broadcast.shape.kind = Kind::broadcast;
    broadcast.bytes = 1000;
    compare(broadcast, limits, 2);
    EXPECT_DOUBLE_EQ(broadcast.limit, 500e-9);
    compare(broadcast, limits, 3);
    EXPECT_DOUBLE_EQ(broadcast.limit, 1e-6);
}

TEST(Json, ARowHasWhatThePicturesAndTablesNeed) {
    const auto json = to_json(row(), {PeerKind::nccl, PeerKind::mpi}, 8);
    EXPECT_EQ(json.at("bytes"), 1024);
    EXPECT_EQ(json.at("redop"), "sum");
    EXPECT_THAT(json.at("median_us").get<double>(), DoubleNear(5, 1e-9));
    EXPECT_THAT(json.at("min_us").get<double>(), DoubleNear(4, 1e-9));
    EXPECT_EQ(json.at("rounds_us"), (std::vector<double>{4, 5, 6}))
        << "all of them, for who asks whether a ratio is chance";
    EXPECT_EQ(json.at("peers")[0].at("rounds_us").size(), 3U);
    EXPECT_THAT(json.at("host_us").get<double>(), DoubleNear(2, 1e-9));
    EXPECT_DOUBLE_EQ(json.at("sent_bytes").get<double>(), 1024 * 14.0 / 8);
    EXPECT_THAT(json.at("wire").get<double>(), DoubleNear(0.8, 1e-9));
    EXPECT_EQ(json.at("best"), "nccl");
    EXPECT_DOUBLE_EQ(json.at("ratio").get<double>(), 1.6);
    ASSERT_EQ(json.at("peers").size(), 2U);
    EXPECT_EQ(json.at("peers")[0].at("name"), "nccl");
    EXPECT_THAT(json.at("peers")[0].at("median_us").get<double>(), DoubleNear(8, 1e-9));
    EXPECT_EQ(json.at("peers")[1].at("absent"), "cannot");
    EXPECT_FALSE(json.at("peers")[1].contains("median_us"));
}

TEST(Json, ARowWithoutAComparisonHasNone) {
    Row plain = row();
    plain.peers.clear();
    plain.best.reset();
    plain.limit = 0;
    const auto json = to_json(plain, {}, 8);
    for (const char *key : {"peers", "ratio", "best", "wire", "limit_us"}) {
        EXPECT_FALSE(json.contains(key)) << key;
    }
}

TEST(Json, TakesACommandThatIsNotUtf8) {
    EXPECT_EQ(text_of({{"command", "a \xff"}}), "{\n  \"command\": \"a \xEF\xBF\xBD\"\n}\n");
}

TEST(Lines, HeadsAndCellsLineUp) {
    const auto heads = comparison_heads({PeerKind::nccl, PeerKind::mpi});
    const std::string line = comparison_line(row(), "packet by kernel [1]", true);
    const auto end_of = [](const std::string &text, const std::string &cell) { return text.find(cell) + cell.size(); };
    EXPECT_EQ(end_of(heads[0], "baton"), end_of(line, "5.00"));
    EXPECT_EQ(end_of(heads[0], "nccl"), end_of(line, "8.00"));
    EXPECT_EQ(end_of(heads[0], "ratio"), end_of(line, "1.60"));
    EXPECT_EQ(end_of(heads[0], "wire"), end_of(line, "0.80"));
    EXPECT_THAT(line, HasSubstr("packet by kernel"));
    Row wrong = row();
    wrong.peers[0].wrong = 3;
    EXPECT_THAT(comparison_line(wrong, "", true), HasSubstr("8.00!"));
}

}  // namespace
}  // namespace baton::bench::perf
