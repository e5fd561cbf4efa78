#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/topology/texts.hpp"
#include "topology/graph.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

Snapshot read(const std::string &text) { return read_hwloc_xml(text, "file.xml"); }

/// texts::hwloc by version `hwloc`, with GPUs of kind `device`, `mbps` between them and nothing to the switch.
Snapshot joined(const std::string &device, const std::string &mbps, const std::string &hwloc = "2.14.0") {
    std::string text = texts::changed(texts::hwloc, "2.9.0", hwloc);
    for (int gpu = 0; gpu < 2; ++gpu) text = texts::changed(text, "10de:1db1", "10de:" + device);
    text = texts::changed(text, " 0 75000 0 ", fmt::format(" {0} 0 {0} ", mbps));
    return read(texts::changed(text, "50000 75000 50000", "0 0 0"));
}

Pair pair_of(const Snapshot &snapshot) { return make_graph(snapshot).pair(0, 1); }

TEST(NvlinkMatrix, MatrixBecomesLinksToTheSwitch) {
    const Snapshot snapshot = read(texts::hwloc);
    ASSERT_EQ(snapshot.gpus[0].nvlinks.size(), 2u);
    ASSERT_EQ(snapshot.gpus[1].nvlinks.size(), 3u);
    EXPECT_EQ(snapshot.gpus[0].nvlinks[0].peer_switch, 0);
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(0, 1).kind, (Known<LinkKind>{LinkKind::NVSWITCH, Source::hwloc_xml}));
    EXPECT_EQ(graph.pair(0, 1).links, 2);
    EXPECT_EQ(graph.pair(0, 1).nominal_mbps.value, 50'000);
}

TEST(NvlinkMatrix, ClosureOverSwitchesCountsNoLinkTwice) {
    const std::string closed =
        texts::changed(texts::changed(texts::hwloc, "1000000 0 75000 0 ", "1000000 50000 75000 50000 "),
                       "length=\"20\"", "length=\"26\"");
    EXPECT_EQ(make_graph(read(closed)).pair(0, 1), make_graph(read(texts::hwloc)).pair(0, 1));
}

TEST(NvlinkMatrix, BandwidthThatIsNoMultipleIsNoNumberOfLinks) {
    const Pair odd = pair_of(joined("1db1", "61000"));
    EXPECT_EQ(odd.kind.value, LinkKind::NVLINK);
    EXPECT_EQ(odd.links, 0);
    EXPECT_EQ(odd.nominal_mbps, (Known<int>{61'000, Source::hwloc_xml}));
    const Pair of_nobody_knows = pair_of(joined("9999", "900000"));
    EXPECT_EQ(of_nobody_knows.links, 0);
    EXPECT_EQ(of_nobody_knows.nominal_mbps, (Known<int>{900'000, Source::hwloc_xml}));
}

TEST(NvlinkMatrix, NoBandwidthIsTooHighForAFile) {
    for (const char *mbps : {"20000000", "18446744073709551615"})
        EXPECT_EQ(pair_of(joined("9999", mbps)).nominal_mbps.value, 10'000'000) << mbps;
}

TEST(NvlinkMatrix, OneVersionOfHwlocCountedTwice) {
    for (const char *device : {"20b0", "1e02"}) {
        const Snapshot wrong = joined(device, "100000", "2.9.0");
        EXPECT_EQ(pair_of(wrong).links, 2) << device;
        EXPECT_EQ(pair_of(wrong).nominal_mbps, (Known<int>{50'000, Source::table})) << device;
        EXPECT_EQ(wrong.gaps.size(), 1u) << device;
        for (const char *hwloc : {"2.9.1", "2.11.2", "2.12.0", "3.0.0"}) {
            const Snapshot right = joined(device, "100000", hwloc);
            EXPECT_EQ(pair_of(right).links, 4) << device << hwloc;
            EXPECT_TRUE(right.gaps.empty()) << device << hwloc;
        }
    }
    EXPECT_EQ(pair_of(joined("1db1", "100000", "2.9.0")).links, 4) << "NVLink 2.0 it knew";
}

/// hwloc takes their links for the A100's; `baton_topo --xml` does not.
TEST(NvlinkMatrix, LinksOfGa10xAreSlower) {
    for (const char *mbps : {"100000", "56248"}) {
        EXPECT_EQ(pair_of(joined("2235", mbps)).links, 4) << mbps;
        EXPECT_EQ(pair_of(joined("2235", mbps)).nominal_mbps, (Known<int>{56'248, Source::table})) << mbps;
    }
    EXPECT_EQ(pair_of(joined("2235", "200000", "2.9.0")).nominal_mbps.value, 56'248);
}

}  // namespace
}  // namespace baton::topology
