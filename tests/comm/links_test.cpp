// What plans are told about the links, for machines of many shapes.
#include "comm/links_of.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/topology/builders.hpp"
#include "topology/override.hpp"

namespace baton::core {
namespace {

using topology::LinkKind;
using topology::Snapshot;
using topology::Source;
namespace builders = topology::builders;

Links links(const Snapshot &snapshot, std::vector<int> gpu_of_rank = {}) {
    if (gpu_of_rank.empty()) {
        gpu_of_rank.resize(snapshot.gpus.size());
        std::iota(gpu_of_rank.begin(), gpu_of_rank.end(), 0);
    }
    return links_of(advise_communicator(snapshot, make_graph(snapshot), gpu_of_rank));
}

Snapshot told(const std::string &override_text, Snapshot snapshot = {}) {
    return apply_override(topology::read_override(override_text, "text"), std::move(snapshot));
}

/// GPUs without NVLinks, each half of them on its own NUMA node.
Snapshot two_sockets(std::size_t count) {
    Snapshot snapshot = builders::gpus(count);
    for (std::size_t gpu = 0; gpu < count; ++gpu)
        snapshot.gpus[gpu].numa_node = {gpu < count / 2 ? 0 : 1, Source::sysfs};
    return snapshot;
}

void expect_uniform(const Links &found, const std::string &why) {
    EXPECT_EQ(found.shape, Links::Shape::uniform) << found.why;
    EXPECT_TRUE(found.ring.empty() && found.island_of_rank.empty());
    EXPECT_EQ(found.why, why);
}

TEST(LinksOf, SwitchesAreUniform) {
    expect_uniform(links(builders::hidden_switches(8)), "every pair of ranks is linked by NVSwitch");
    EXPECT_EQ(describe(links(builders::hidden_switches(8))), "uniform: every pair of ranks is linked by NVSwitch");
}

TEST(LinksOf, AreAllAlikeWhereEverybodyIsKnownAndEqual) {
    EXPECT_TRUE(links(builders::hidden_switches(8)).all_alike);
    EXPECT_TRUE(links(builders::hidden_switches(8), {2, 2, 2}).all_alike) << "one GPU";
    EXPECT_FALSE(links(builders::hidden_switches(8), {0, 0, 1, 1}).all_alike) << "some share a GPU";
    EXPECT_FALSE(links(builders::gpus(4)).all_alike) << "nobody says";
    EXPECT_FALSE(links(two_sockets(4)).all_alike);
    Snapshot snapshot = builders::hidden_switches(8);
    snapshot.gpus[3].nvlinks[5].active = false;
    EXPECT_FALSE(links(snapshot).all_alike);
}

/// Every ring includes the GPU with the dead link.
TEST(LinksOf, AWeakGpuChangesNothing) {
    Snapshot snapshot = builders::hidden_switches(8);
    snapshot.gpus[3].nvlinks[5].active = false;
    expect_uniform(links(snapshot), "every pair of ranks is linked by NVSwitch or better, not all alike");
}

TEST(LinksOf, WhatNobodyKnowsIsUniform) {
    expect_uniform(links(builders::gpus(4)), "nobody says how all ranks are linked");
    expect_uniform(links(builders::cube_mesh(), {0, 1, 2, -1}), "nobody says how all ranks are linked");
}

TEST(LinksOf, PcieAcrossSocketsIsUniform) {
    expect_uniform(links(two_sockets(8)), "no usable NVLinks known; the weakest link is SYS");
}

TEST(LinksOf, TwoRanksAreOnePair) {
    Snapshot snapshot = builders::cube_mesh();
    expect_uniform(links(snapshot, {0, 7}), "no usable NVLinks known; the weakest link is SYS");
}

TEST(LinksOf, BridgedPairsAreIslands) {
    Snapshot snapshot = two_sockets(4);
    builders::join(snapshot, 0, 2, 4, 5);
    builders::join(snapshot, 1, 3, 4, 5);
    const Links found = links(snapshot);
    EXPECT_EQ(found.shape, Links::Shape::islands);
    EXPECT_EQ(found.island_of_rank, (std::vector<int>{0, 1, 0, 1}));
    EXPECT_EQ(found.why, "2 NVLink islands of 2 ranks");
    EXPECT_EQ(links(snapshot, {1, 3, 0, 2}).island_of_rank, (std::vector<int>{0, 0, 1, 1}));
}

TEST(LinksOf, IslandsMayDiffer) {
    Snapshot snapshot = two_sockets(4);
    for (const auto &[a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}}) builders::join(snapshot, a, b, 2);
    const Links found = links(snapshot);
    EXPECT_EQ(found.island_of_rank, (std::vector<int>{0, 0, 0, 1}));
    EXPECT_EQ(found.why, "2 NVLink islands, of 3 and 1 ranks");
}

/// Two quads at switches, with less bandwidth between them: islands if it is little enough.
TEST(LinksOf, ThinSwitchesBetweenIslands) {
    const auto between = [](const std::string &gbps) {
        std::string pairs;
        for (int a = 0; a < 4; ++a)
            for (int b = 4; b < 8; ++b)
                pairs += fmt::format(R"({}{{"gpus": ["{}", "{}"], "gbps": {}}})", pairs.empty() ? "" : ",", a, b, gbps);
        return links(told(R"({"pairs": [)" + pairs + "]}", builders::hidden_switches(8)));
    };
    EXPECT_EQ(between("100").island_of_rank, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
    EXPECT_EQ(between("225").shape, Links::Shape::islands);
    EXPECT_EQ(between("226").shape, Links::Shape::uniform);
}

Snapshot two_quads(int within, int between) {
    Snapshot snapshot = two_sockets(8);
    for (std::size_t a = 0; a < 8; ++a)
        for (std::size_t b = a + 1; b < 8; ++b) builders::join(snapshot, a, b, a / 4 == b / 4 ? within : between);
    return snapshot;
}

/// Thin links that pairs have to themselves: an all-to-all uses all of them at once, in one step.
TEST(LinksOf, PairsAcrossWithLinksOfTheirOwnMakeNoIslands) {
    EXPECT_EQ(links(two_quads(4, 1)).shape, Links::Shape::uniform);
    Snapshot twins = two_quads(4, 0);
    for (std::size_t a = 0; a < 4; ++a) builders::join(twins, a, a + 4, 1);
    EXPECT_EQ(links(twins).island_of_rank, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));  // the other pairs share a path
    Snapshot refused = two_quads(4, 1);
    for (std::size_t a = 0; a < 8; ++a)
        for (std::size_t b = 0; b < 8; ++b)
            if (a / 4 != b / 4) refused.pair(a, b).p2p_write = {false, Source::probe};
    EXPECT_EQ(links(refused).island_of_rank, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
}

/// An assumed bandwidth, 64 GB/s or any other, is no reason to think that a link of 20 GB/s is slow.
TEST(LinksOf, ToldAndAssumedBandwidthsMakeNoIslands) {
    const std::string kinds = R"("kind": [[null, "NVSWITCH", "NVSWITCH", "NVSWITCH"],
                                          ["NVSWITCH", null, "NVSWITCH", "NVSWITCH"],
                                          ["NVSWITCH", "NVSWITCH", null, "NVSWITCH"],
                                          ["NVSWITCH", "NVSWITCH", "NVSWITCH", null]])";
    const auto host = [&](const std::string &rest) { return links(told(R"({"ranks": 4, )" + kinds + rest + "}")); };
    const std::string across =
        R"([null, null, 20, 20], [null, null, 20, 20], [20, 20, null, null], [20, 20, null, null])";
    EXPECT_EQ(host(R"(, "gbps": [)" + across + "]").shape, Links::Shape::uniform);
    const std::string half = R"([null, 40, 20, 20], [40, null, 20, 20], [20, 20, null, null], [20, 20, null, null])";
    EXPECT_EQ(host(R"(, "gbps": [)" + half + "]").shape, Links::Shape::uniform);
    const std::string all = R"([null, 64, 20, 20], [64, null, 20, 20], [20, 20, null, 64], [20, 20, 64, null])";
    EXPECT_EQ(host(R"(, "gbps": [)" + all + "]").island_of_rank, (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(host(R"(, "links": [[0, 4, 1, 1], [4, 0, 1, 1], [1, 1, 0, 4], [1, 1, 4, 0]])").island_of_rank,
              (std::vector<int>{0, 0, 1, 1}));
    EXPECT_EQ(
        host(R"(, "links": [[0, 4, null, null], [4, 0, null, null], [null, null, 0, 4], [null, null, 4, 0]])").shape,
        Links::Shape::uniform);
}

/// Linked GPUs are an island, whatever is known of their links.
TEST(LinksOf, MissingLinksMakeIslandsWithoutAnyBandwidth) {
    const std::string pairs = R"("pairs": [{"gpus": ["0", "1"], "kind": "NVLINK", "gbps": 20},
                                           {"gpus": ["2", "3"], "kind": "NVLINK"}])";
    EXPECT_EQ(links(told("{" + pairs + "}", two_sockets(4))).island_of_rank, (std::vector<int>{0, 0, 1, 1}));
}

/// A ring of double links, found by their number alone.
TEST(LinksOf, MoreLinksAreBetterWhereNobodyTellsTheirBandwidth) {
    const Links found = links(told(R"({"ranks": 4, "kind": [[null, null, null, "SYS"], [null, null, "SYS", null],
                                                              [null, "SYS", null, null], ["SYS", null, null, null]],
                                       "links": [[0, 2, 2, null], [2, 0, null, 2], [2, null, 0, 2], [null, 2, 2, 0]]})"));
    EXPECT_EQ(found.ring, (std::vector<int>{0, 1, 3, 2}));
}

/// Pairs in quads: the quads count, because fewer bytes cross.
TEST(LinksOf, LargestIslandsCount) {
    Snapshot snapshot = two_sockets(8);
    for (std::size_t a = 0; a < 8; ++a)
        for (std::size_t b = a + 1; b < 8; ++b)
            if (a / 4 == b / 4) builders::join(snapshot, a, b, a / 2 == b / 2 ? 6 : 2);
    EXPECT_EQ(links(snapshot).island_of_rank, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(LinksOf, CubeMeshIsARing) {
    const Links found = links(builders::cube_mesh());
    EXPECT_EQ(found.shape, Links::Shape::ring);
    EXPECT_EQ(found.ring, (std::vector<int>{0, 3, 2, 1, 5, 6, 7, 4}));
    EXPECT_EQ(found.why,
              "every step of the ring 0-3-2-1-5-6-7-4 has NVLink of 50 GB/s, other pairs less (the weakest: SYS)");
    // A quad of it has double or single links between all pairs: together they carry more than a ring.
    EXPECT_EQ(links(builders::cube_mesh(), {0, 1, 2, 3}).shape, Links::Shape::uniform);
}

TEST(LinksOf, LongListsAreCutAndCounted) {
    Snapshot snapshot = two_sockets(20);
    for (std::size_t gpu = 0; gpu < 20; ++gpu) builders::join(snapshot, gpu, (gpu + 1) % 20, 2);
    EXPECT_EQ(
        links(snapshot).why,
        "every step of the ring 0-1-2-3-4-5-6-7-8-9-10-11-12-13-14-15-... (20 in all) has NVLink of 50 GB/s, other "
        "pairs less (the weakest: SYS)");
}

TEST(LinksOf, AChainIsNoRing) {
    Snapshot snapshot = two_sockets(4);
    for (std::size_t gpu = 0; gpu + 1 < 4; ++gpu) builders::join(snapshot, gpu, gpu + 1, 2);
    EXPECT_EQ(links(snapshot).shape, Links::Shape::uniform);
}

TEST(LinksOf, OneMuchSlowerPairOfManyIsAvoided) {
    const auto slow = [](double gbps) {
        return links(told(R"({"pairs": [{"gpus": ["0", "1"], "gbps": )" + std::to_string(gbps) + "}]}",
                          builders::hidden_switches(4)));
    };
    EXPECT_EQ(slow(200).shape, Links::Shape::uniform);  // three steps of the ring at 450 take longer
    EXPECT_EQ(slow(100).ring, (std::vector<int>{0, 2, 1, 3}));
}

TEST(LinksOf, RefusedPairsAreAvoided) {
    const Links found = links(told(R"({"pairs": [{"gpus": ["0", "1"], "p2p": "off"}]})", builders::hidden_switches(4)));
    EXPECT_EQ(found.ring, (std::vector<int>{0, 2, 1, 3}));
    EXPECT_EQ(links(told(R"({"p2p": "off"})", builders::hidden_switches(4))).shape, Links::Shape::uniform);
}

TEST(LinksOf, RanksThatShareGpus) {
    expect_uniform(links(builders::hidden_switches(2), {0, 1, 0, 1}),
                   "every pair of ranks is linked by NVSwitch or better, not all alike");
    EXPECT_EQ(links(two_sockets(2), {0, 0, 1, 1}).shape, Links::Shape::uniform);
    EXPECT_EQ(links(builders::hidden_switches(1), {0, 0, 0}).shape, Links::Shape::uniform);
    Snapshot bridged = two_sockets(4);
    builders::join(bridged, 0, 1, 4);
    builders::join(bridged, 2, 3, 4);
    EXPECT_EQ(links(bridged, {0, 0, 1, 2, 3, 3}).island_of_rank, (std::vector<int>{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(links(builders::cube_mesh(), {0, 3, 2, 1, 5, 6, 7, 4, 4}).shape, Links::Shape::ring);
}

TEST(LinksOf, NoRanksAndOne) {
    EXPECT_EQ(links({}).shape, Links::Shape::uniform);
    EXPECT_EQ(links(builders::gpus(1)).shape, Links::Shape::uniform);
}

}  // namespace
}  // namespace baton::core
