#include "topology/override.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tests/topology/builders.hpp"
#include "topology/advice.hpp"

namespace baton::topology {
namespace {

Snapshot with_override(const std::string &text, const Snapshot &snapshot) {
    return apply_override(read_override(text, "o.json"), snapshot);
}
std::string why_not(const std::string &text, const Snapshot &snapshot = builders::hidden_switches(3)) {
    return test::refusal([&] { with_override(text, snapshot); });
}

TEST(Override, NothingSaidChangesNothing) {
    const Snapshot before = builders::hidden_switches(3);
    EXPECT_EQ(with_override("{}", before), before);
    EXPECT_EQ(with_override(R"({"gpus": ["0", "2"]})", before), before);
    EXPECT_EQ(with_override(R"({"pairs": [{"gpus": ["0", "1"]}]})", before), before);
}

TEST(Override, WhoChangedTheMachineIsNoted) {
    for (const char *text : {R"({"p2p": "off"})", R"({"pairs": [{"gpus": ["0", "1"], "links": 2}]})",
                             R"({"dead_links": [{"gpu": "0", "links": [1]}]})", R"({"ranks": 3})"})
        EXPECT_EQ(with_override(text, builders::hidden_switches(3)).gaps,
                  (std::vector<std::string>{"topology override o.json changed what the machine says"}));
}

TEST(Override, NamesOfSeveralSlicesAreRefused) {
    Snapshot snapshot = builders::hidden_switches(3);
    for (Gpu &gpu : snapshot.gpus) gpu.mig = true;
    snapshot.gpus[2].pci = snapshot.gpus[1].pci;
    const std::string text = R"({"pairs": [{"gpus": ["0", ")" + to_string(snapshot.gpus[1].pci.value) + R"("]}]})";
    EXPECT_EQ(why_not(text, snapshot),
              "topology override o.json: pairs[0]: \"0000:11:00.0\" may be any of GPUs 1, 2; their indices and UUIDs "
              "tell them apart");
}

TEST(Override, P2pOffForAllPairs) {
    const Snapshot snapshot =
        with_override(R"({"p2p": "off"})", builders::with_p2p(builders::hidden_switches(3), true));
    const Graph graph = make_graph(snapshot);
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
            if (a == b) continue;
            EXPECT_EQ(graph.pair(a, b).p2p_write, (Known<bool>{false, Source::override_file}));
            EXPECT_EQ(advise_pair(graph.pair(a, b)).transport, Advised::host_staging);
        }
}

TEST(Override, MatricesAndPairs) {
    const Snapshot snapshot = with_override(R"({
      "kind":  [["SELF", "SYS", null], ["SYS", null, null], [null, null, null]],
      "links": [[0, 0, 9], [0, 0, 18], [9, 18, 0]],
      "gbps":  [[0, 12.5, null], [12.5, 0, null], [null, null, 0]],
      "p2p":   [[null, false, true], [false, null, true], [true, true, null]],
      "pairs": [{"gpus": ["1", "0000:12:00.0"], "gbps": 300, "p2p": "off"}]})",
                                            builders::hidden_switches(3));
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(1, 0).kind, (Known<LinkKind>{LinkKind::SYS, Source::override_file}));
    EXPECT_EQ(graph.pair(1, 0).nominal_mbps, (Known<int>{12'500, Source::override_file}));
    EXPECT_EQ(graph.pair(0, 1).p2p_read, (Known<bool>{false, Source::override_file}));
    EXPECT_EQ(graph.pair(0, 2).kind.value, LinkKind::NVSWITCH);
    EXPECT_EQ(graph.pair(0, 2).nominal_mbps.value, 225'000);
    EXPECT_EQ(graph.pair(2, 1).nominal_mbps.value, 300'000);
    EXPECT_FALSE(graph.pair(1, 2).p2p_write.value);
}

/// The table of docs/topology.md: 18 links of 25 GB/s on the machine, and what is said of pair (0, 1).
TEST(Override, LinksAndBandwidthGoTogether) {
    const auto pair_of = [](const std::string &said, const Snapshot &machine) {
        return make_graph(with_override((R"({"pairs": [{"gpus": ["0", "1"], )" + said + "}]}").c_str(), machine))
            .pair(1, 0);
    };
    const auto expect = [](const Pair &pair, int links, int mbps) {
        EXPECT_EQ(pair.links, links);
        EXPECT_EQ(pair.nominal_mbps.known() ? pair.nominal_mbps.value : -1, mbps);
    };
    const Snapshot switches = builders::hidden_switches(2);
    expect(pair_of(R"("links": 4)", switches), 4, 100'000);
    expect(pair_of(R"("links": 24)", switches), 24, 600'000);
    expect(pair_of(R"("gbps": 33)", switches), 18, 33'000);
    expect(pair_of(R"("links": 4, "gbps": 33)", switches), 4, 33'000);
    expect(pair_of(R"("kind": "NVLINK")", switches), 18, 450'000);
    expect(pair_of(R"("kind": "SYS")", switches), 0, -1);
    expect(pair_of(R"("links": 0, "gbps": 33)", switches), 0, 33'000);
    Snapshot apart = builders::gpus(3);
    for (std::size_t gpu : {0, 1}) builders::join(apart, gpu, 2, 2);  // of 25 GB/s each, but not to each other
    expect(pair_of(R"("links": 3)", apart), 3, 75'000);
    expect(pair_of(R"("links": 3)", builders::gpus(2)), 3, -1);
    expect(pair_of(R"("kind": "NVLINK")", builders::gpus(2)), 0, -1);
    expect(pair_of(R"("kind": "NVLINK", "gbps": 33)", builders::gpus(2)), 0, 33'000);
}

TEST(Override, LinksOfPairsStandAboveTheKindOfAMatrix) {
    const auto pair_of = [](const char *kind, const char *pair) {
        const std::string text = fmt::format(
            R"({{"kind": [[null, "{0}"], ["{0}", null]], "pairs": [{{"gpus": ["0", "1"], {1}}}]}})", kind, pair);
        Snapshot machine = builders::hidden_switches(2);
        for (Gpu &gpu : machine.gpus) gpu.numa_node = {0, Source::sysfs};
        return make_graph(with_override(text.c_str(), machine)).pair(0, 1);
    };
    EXPECT_EQ(pair_of("NVLINK", R"("links": 0)").kind.value, LinkKind::NODE);
    EXPECT_EQ(pair_of("SYS", R"("links": 4)").kind.value, LinkKind::NVSWITCH);
    EXPECT_EQ(pair_of("SYS", R"("links": 4)").links, 4);
    EXPECT_EQ(pair_of("SYS", R"("links": 0)").kind.value, LinkKind::SYS);
    EXPECT_EQ(pair_of("NVLINK", R"("links": 4)").kind.value, LinkKind::NVLINK);
    EXPECT_EQ(pair_of("SYS", R"("links": 4, "kind": "NVLINK")").kind.value, LinkKind::NVLINK);
}

TEST(Override, NamedRowsSpeakOfSomeGpus) {
    const Snapshot snapshot =
        with_override(R"({"gpus": ["GPU-2", "0000:10:00.0"], "gbps": [[0, 7], [7, 0]]})", builders::hidden_switches(3));
    EXPECT_EQ(snapshot.pair(0, 2).mbps, (Known<int>{7'000, Source::override_file}));
    EXPECT_EQ(snapshot.pair(2, 0).mbps.value, 7'000);
    EXPECT_FALSE(snapshot.pair(0, 1).mbps.known());
}

TEST(Override, DeadLinks) {
    const Snapshot snapshot =
        with_override(R"({"dead_links": [{"gpu": "1", "links": [3, 4]}]})", builders::hidden_switches(3));
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).links, 16);
    EXPECT_EQ(make_graph(snapshot).pair(0, 2).links, 18);
}

TEST(Override, LinksThatDeadLinksDoNotLeaveAreRefused) {
    const std::string dead = R"({"dead_links": [{"gpu": "1", "links": [3]}], )";
    EXPECT_EQ(why_not(dead + R"("pairs": [{"gpus": ["0", "1"], "links": 18}]})"),
              "topology override o.json: pairs[0]: 18 links, but \"dead_links\" leave GPU 1 only 17");
    const Snapshot fewer =
        with_override(dead + R"("pairs": [{"gpus": ["0", "1"], "links": 17}]})", builders::hidden_switches(3));
    EXPECT_EQ(make_graph(fewer).pair(0, 1).links, 17);
    // Of links that are not dead, the user may claim more than the machine shows.
    const Snapshot more =
        with_override(dead + R"("pairs": [{"gpus": ["0", "2"], "links": 24}]})", builders::hidden_switches(3));
    EXPECT_EQ(make_graph(more).pair(0, 2).links, 24);
}

TEST(Override, RanksOnHostMemory) {
    const Snapshot snapshot = with_override(R"({"ranks": 4,
      "pairs": [{"gpus": ["0", "2"], "kind": "NVLINK", "gbps": 50}, {"gpus": ["1", "3"], "kind": "NVLINK", "gbps": 50},
                {"gpus": ["0", "1"], "kind": "SYS", "gbps": 5}, {"gpus": ["2", "3"], "kind": "SYS", "gbps": 5}]})",
                                            {});
    const CommAdvice advice = advise_communicator(snapshot, make_graph(snapshot), {0, 1, 2, 3});
    EXPECT_EQ(advice.nvlink_groups, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
    EXPECT_EQ(advice.ring.order, (std::vector<int>{0, 1, 3, 2}));
    EXPECT_EQ(with_override(R"({"ranks": 2})", builders::hidden_switches(3)).gpus.size(), 2u);
}

TEST(Override, NamesTheEntryThatRefusesP2p) {
    const Snapshot machine = builders::hidden_switches(3);
    const auto entry = [&](const std::string &text, int a, int b) {
        return p2p_refusal(read_override(text, "o.json"), with_override(text, machine), a, b);
    };
    const std::string matrix = R"("p2p": [[null, false, true], [false, null, null], [true, null, null]])";
    EXPECT_EQ(entry("{" + matrix + "}", 1, 0), "topology override o.json: p2p[0][1]");
    EXPECT_EQ(entry("{" + matrix + "}", 0, 2), "");
    EXPECT_EQ(entry("{" + matrix + "}", 1, 2), "");
    EXPECT_EQ(entry(R"({"p2p": "off"})", 1, 2), "topology override o.json: p2p");
    const std::string pairs =
        R"(, "pairs": [{"gpus": ["GPU-1", "0"], "p2p": "on"}, {"gpus": ["2", "0"], "p2p": "off"}])";
    EXPECT_EQ(entry("{" + matrix + pairs + "}", 0, 1), "");
    EXPECT_EQ(entry("{" + matrix + pairs + "}", 0, 2), "topology override o.json: pairs[1]");
    EXPECT_EQ(entry(R"({"p2p": "off")" + pairs + "}", 0, 1), "");
}

TEST(Override, PairsThatCannotBeAreRefused) {
    const auto pair = [](const std::string &rest) { return R"({"pairs": [{"gpus": ["0", "2"], )" + rest + "}]}"; };
    EXPECT_EQ(why_not(pair(R"("kind": "SELF")")),
              "topology override o.json: pairs[0]: SELF is one GPU, and these are two");
    EXPECT_EQ(why_not(pair(R"("kind": "SAME_DEVICE")")),
              "topology override o.json: pairs[0]: SAME_DEVICE, but they have different PCI addresses");
    EXPECT_EQ(why_not(pair(R"("kind": "SYS", "links": 4)")),
              "topology override o.json: pairs[0]: SYS has no NVLinks to count");
    EXPECT_EQ(why_not(R"({"gpus": ["0", "1"], "kind": [[null, "SYS"], ["SYS", null]], "links": [[0, 4], [4, 0]]})"),
              "topology override o.json: links[0][1]: SYS has no NVLinks to count");
    EXPECT_EQ(
        why_not(R"({"gpus": ["0", "1"], "kind": [[null, "NVLINK"], ["NVLINK", null]], "links": [[0, 0], [0, 0]]})"),
        "topology override o.json: links[0][1]: NVLINK without links");
    EXPECT_EQ(why_not(pair(R"("kind": "NVLINK", "links": 0)")),
              "topology override o.json: pairs[0]: NVLINK without links");
    const std::string twice = R"({"pairs": [{"gpus": ["0", "1"], "p2p": "off"}, {"gpus": ["1", "0"], "p2p": )";
    EXPECT_EQ(why_not(twice + R"("on"}]})"),
              "topology override o.json: pairs[1]: p2p contradicts an entry before it (the last of this pair is "
              "pairs[0])");
    const Snapshot agreed =
        with_override(twice + R"("off"}]})", builders::with_p2p(builders::hidden_switches(3), true));
    EXPECT_FALSE(agreed.pair(0, 1).p2p_write.value);
}

TEST(Override, RefusalsNameTheEntry) {
    const std::string o = "topology override o.json: ";
    EXPECT_EQ(why_not("{"),
              o + "parse error at line 1, column 2: syntax error while parsing object key - unexpected end "
                  "of input; expected string literal");
    EXPECT_EQ(why_not("[]"), o + "must be an object");
    EXPECT_EQ(why_not(R"({"p2q": "off"})").find(o + "unknown key \"p2q\"; there are gpus"), 0u);
    EXPECT_EQ(why_not(R"({"p2p": "maybe"})"), o + "p2p: must be \"on\" or \"off\", not \"maybe\"");
    EXPECT_EQ(why_not(R"({"p2p": true})"), o + "p2p: must be \"on\" or \"off\", not true");
    EXPECT_EQ(why_not(R"({"pairs": [{"gpus": ["0", "1"], "p2p": false}]})"),
              o + "pairs[0].p2p: must be \"on\" or \"off\", not false");
    EXPECT_EQ(why_not(R"({"gbps": [[0,1,1],[1,0,-2],[1,1,0]]})"),
              o + "gbps[1][2]: must be a number from 0 to 100000, not -2");
    EXPECT_EQ(why_not(R"({"gbps": [[0,1,1],[1,0,1e300],[1,1,0]]})"),
              o + "gbps[1][2]: must be a number from 0 to 100000, not 1e+300");
    EXPECT_EQ(why_not(R"({"links": [[0,1,1],[2,0,1],[1,1,0]]})"),
              o + "links: not symmetric: [0][1] differs from [1][0]");
    EXPECT_EQ(why_not(R"({"links": [[0,1,1],[1,0,1]]})"), o + "links[0]: 3 values in a row of a matrix with 2 rows");
    EXPECT_EQ(why_not(R"({"links": [[0,1],[1,0]]})"),
              o + "its matrices have 2 rows, but the machine has 3 GPUs; \"gpus\" can name some");
    EXPECT_EQ(why_not(R"({"links": [[0,1],[1,0]], "gbps": [[0]]})"), o + "gbps: 1 row, but links speaks of 2");
    EXPECT_EQ(why_not(R"({"links": [[0]]})"),
              o + "its matrices have 1 row, but the machine has 3 GPUs; \"gpus\" can name some");
    EXPECT_EQ(why_not(R"({"gpus": [], "links": []})"), o + "gpus: names no GPU");
    EXPECT_EQ(
        why_not(R"({"kind": [["SELF","FAST"],["FAST","SELF"]]})").find(o + "kind[0][1]: \"FAST\" is none of SELF,"),
        0u);
    EXPECT_EQ(why_not(R"({"gpus": ["0", "7"], "gbps": [[0,1],[1,0]]})"),
              o + "gpus[1]: there is no GPU \"7\"; there are 0 to 2, by index, UUID or PCI address");
    EXPECT_EQ(why_not(R"({"gpus": ["0", "GPU-0"], "gbps": [[0,1],[1,0]]})"), o + "gpus[0] and gpus[1] are one GPU");
    EXPECT_EQ(why_not(R"({"pairs": [{"gpus": ["0", "x"]}]})"),
              o + "pairs[0]: there is no GPU \"x\"; there are 0 to 2, by index, UUID or PCI address");
    EXPECT_EQ(why_not(R"({"pairs": [{"gpus": ["0"]}]})"), o + "pairs[0].gpus: a pair has 2 entries, not 1");
    EXPECT_EQ(why_not(R"({"pairs": [{"gpus": ["1", "1"]}]})"), o + "pairs[0]: both are GPU \"1\"");
    EXPECT_EQ(why_not(R"({"pairs": [{"gpus": ["0", "1"]}]})", {}),
              o + "pairs[0]: there is no GPU \"0\": there are none");
    EXPECT_EQ(why_not(R"({"dead_links": [{"gpu": "0", "links": [18]}]})"),
              o + "dead_links[0].links[0]: GPU \"0\" has no NVLink 18; it has 18");
    EXPECT_EQ(why_not(R"({"ranks": 2, "gpus": []})"), o + "\"gpus\" and \"ranks\" exclude each other");
}

}  // namespace
}  // namespace baton::topology
