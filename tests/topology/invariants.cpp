#include "tests/topology/invariants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "topology/advice.hpp"
#include "topology/hwloc_export.hpp"
#include "topology/readers.hpp"
#include "topology/snapshot_json.hpp"
#include "topology/summary.hpp"

namespace baton::topology {
namespace {

void check_pairs(const Graph &graph) {
    for (std::size_t a = 0; a < graph.gpus; ++a)
        for (std::size_t b = 0; b < graph.gpus; ++b) {
            const Pair &there = graph.pair(a, b), &back = graph.pair(b, a);
            EXPECT_EQ(there.kind.value == LinkKind::SELF, a == b);
            EXPECT_EQ(there.kind.value, back.kind.value) << a << " " << b;
            EXPECT_EQ(there.links, back.links) << a << " " << b;
            EXPECT_EQ(there.nominal_mbps.value, back.nominal_mbps.value) << a << " " << b;
            EXPECT_EQ(there.hops.value, back.hops.value) << a << " " << b;
            EXPECT_FALSE(there.why.empty());
            EXPECT_FALSE(advise_pair(there).why.empty());
        }
    for (std::size_t a = 0; a < graph.nics; ++a)
        for (std::size_t b = 0; b < graph.nics; ++b)
            EXPECT_EQ(graph.nic_pair(a, b).kind.value, graph.nic_pair(b, a).kind.value);
}

void check_advice(const Snapshot &snapshot, const Graph &graph) {
    std::vector<int> ranks(snapshot.gpus.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const CommAdvice advice = advise_communicator(snapshot, graph, ranks);
    std::vector<int> ring = advice.ring.order, in_groups;
    for (const auto &group : advice.nvlink_groups) in_groups.insert(in_groups.end(), group.begin(), group.end());
    std::sort(ring.begin(), ring.end());
    std::sort(in_groups.begin(), in_groups.end());
    EXPECT_EQ(ring, ranks);
    EXPECT_EQ(in_groups, ranks);
    EXPECT_TRUE(ranks.empty() || advice.ring.order.front() == 0);
    EXPECT_TRUE(advice.ring.rank_order || !advice.uniform);
    for (const RankAdvice &rank : advice.ranks)
        for (const NearNic &near : rank.nearest_nics)
            for (std::size_t nic = 0; nic < graph.nics; ++nic)
                EXPECT_LE(near.kind, graph.nic_path(static_cast<std::size_t>(rank.gpu), nic).kind.value);
}

}  // namespace

void check_invariants(const Snapshot &snapshot) {
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph, make_graph(snapshot));
    check_pairs(graph);
    check_advice(snapshot, graph);
    for (const Gpu &gpu : snapshot.gpus) {
        EXPECT_TRUE(gpu.pci.known()) << gpu.name;
        EXPECT_TRUE(gpu.pci_node >= 0 || snapshot.pci.empty()) << gpu.name;
        EXPECT_FALSE(gpu.name.empty());
    }
    EXPECT_FALSE(summarize(snapshot).empty());
    EXPECT_EQ(snapshot_from_json(snapshot_to_json(snapshot), "own text"), snapshot);
    EXPECT_EQ(read_hwloc_xml(to_hwloc_xml(snapshot), "own text"), snapshot);
}

}  // namespace baton::topology
