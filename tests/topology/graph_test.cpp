#include "topology/graph.hpp"

#include <gtest/gtest.h>

#include "tests/topology/builders.hpp"
#include "topology/pci_path.hpp"

namespace baton::topology {
namespace {

/// Two host bridges. Below the first: a switch with two GPUs, a NIC and a second switch with a GPU; and a GPU on a port
/// of its own. Below the other bridge: a GPU.
struct Tree {
    Snapshot snapshot = builders::gpus(5);
    int hosts[2];

    Tree() {
        hosts[0] = builders::add_pci(snapshot, PciKind::host_bridge, -1);
        const int port = builders::add_pci(snapshot, PciKind::bridge, hosts[0], 31500);
        const int up = builders::add_pci(snapshot, PciKind::bridge, port, 15750);
        const int down[4] = {below(up), below(up), below(up), below(up)};
        snapshot.gpus[0].pci_node = builders::add_pci(snapshot, PciKind::gpu, down[0], 31500);
        snapshot.gpus[1].pci_node = builders::add_pci(snapshot, PciKind::gpu, down[1], 31500);
        builders::add_nic(snapshot, "mlx5_0", builders::add_pci(snapshot, PciKind::nic, down[2]));
        const int second = below(down[3]);
        snapshot.gpus[2].pci_node = builders::add_pci(snapshot, PciKind::gpu, below(second));
        snapshot.gpus[3].pci_node = builders::add_pci(snapshot, PciKind::gpu, below(hosts[0]));
        hosts[1] = builders::add_pci(snapshot, PciKind::host_bridge, -1);
        snapshot.gpus[4].pci_node = builders::add_pci(snapshot, PciKind::gpu, below(hosts[1]));
        snapshot.host.numa_list = {{0, "0-3", 0}, {1, "4-7", 0}};
    }
    int below(int parent) { return builders::add_pci(snapshot, PciKind::bridge, parent); }
    void place(int host, std::vector<int> nodes, const std::string &cpuset) {
        snapshot.pci[static_cast<std::size_t>(hosts[host])].numa_nodes = std::move(nodes);
        snapshot.pci[static_cast<std::size_t>(hosts[host])].cpuset = cpuset;
    }
    Pair pair(std::size_t a, std::size_t b) const { return make_graph(snapshot).pair(a, b); }
};

TEST(Graph, KindsOfPciPaths) {
    Tree tree;
    tree.place(0, {0}, "0-3");
    tree.place(1, {1}, "4-7");
    EXPECT_EQ(tree.pair(0, 1).kind, (Known<LinkKind>{LinkKind::PIX, Source::hwloc}));
    EXPECT_EQ(tree.pair(0, 2).kind.value, LinkKind::PXB);
    EXPECT_EQ(tree.pair(0, 3).kind.value, LinkKind::PHB);
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::SYS);
    const Graph graph = make_graph(tree.snapshot);
    EXPECT_EQ(graph.nic_path(1, 0).kind.value, LinkKind::PIX);
    EXPECT_EQ(graph.nic_path(2, 0).kind.value, LinkKind::PXB);
    EXPECT_EQ(graph.nic_path(4, 0).kind.value, LinkKind::SYS);
    EXPECT_EQ(graph.nic_pair(0, 0).kind.value, LinkKind::SELF);
}

TEST(Graph, HopsAndSlowestLink) {
    Tree tree;
    EXPECT_EQ(tree.pair(0, 1).hops, (Known<int>{3, Source::hwloc}));  // port, switch, port
    EXPECT_EQ(tree.pair(0, 1).nominal_mbps, (Known<int>{31500, Source::hwloc}));
    EXPECT_EQ(tree.pair(0, 3).hops.value, 5);  // port, switch, port, host bridge, port
    EXPECT_EQ(tree.pair(0, 3).nominal_mbps.value, 15750);
    EXPECT_FALSE(tree.pair(3, 4).nominal_mbps.known());
}

TEST(Graph, HostBridgesOfOneNumaNode) {
    Tree tree;
    tree.place(0, {1}, "4-7");
    tree.place(1, {1}, "4-7");
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::NODE);
    tree.place(1, {0, 1}, "");
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::SYS);
    tree.place(0, {0, 1}, "");
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::NODE);
    tree.place(1, {0, 2}, "");
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::SYS);
}

TEST(Graph, HostBridgesWithoutNumaNodes) {
    Tree tree;
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::SYS);
    EXPECT_NE(tree.pair(0, 4).why.find("unknown"), std::string::npos);
    tree.place(0, {}, "0-1");
    tree.place(1, {}, "0-1");
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::NODE);
    tree.place(1, {}, "2-3");
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::SYS);
    tree.snapshot.host.numa_list.resize(1);
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::NODE);
    tree.snapshot.host.numa_list.clear();
    EXPECT_EQ(tree.pair(0, 4).kind.value, LinkKind::SYS) << "nobody says how many there are";
}

TEST(Graph, WholeSwitchesCountAsOneEach) {
    Snapshot snapshot = builders::gpus(3);
    const int host = builders::add_pci(snapshot, PciKind::host_bridge, -1);
    const int outer = builders::add_pci(snapshot, PciKind::pci_switch, host);
    const int inner = builders::add_pci(snapshot, PciKind::pci_switch, outer);
    snapshot.gpus[0].pci_node = builders::add_pci(snapshot, PciKind::gpu, inner);
    snapshot.gpus[1].pci_node = builders::add_pci(snapshot, PciKind::gpu, inner);
    snapshot.gpus[2].pci_node = builders::add_pci(snapshot, PciKind::gpu, outer);
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::PIX);
    EXPECT_EQ(make_graph(snapshot).pair(0, 2).kind.value, LinkKind::PXB);
}

TEST(Graph, TheDriversWordStandsAboveTheTree) {
    Tree tree;
    tree.snapshot.pair(0, 1).ancestor = {CommonAncestor::system, Source::nvml};
    EXPECT_EQ(tree.pair(0, 1).kind, (Known<LinkKind>{LinkKind::SYS, Source::nvml}));
    EXPECT_EQ(tree.pair(0, 1).hops.value, 3);
}

TEST(Graph, NvlinksOfOneGpuToAnother) {
    Snapshot snapshot = builders::cube_mesh();
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(0, 3).kind.value, LinkKind::NVLINK);
    EXPECT_EQ(graph.pair(0, 3).links, 2);
    EXPECT_EQ(graph.pair(0, 3).nominal_mbps, (Known<int>{50'000, Source::table}));
    EXPECT_EQ(graph.pair(0, 3).hops.value, 0);
    EXPECT_EQ(graph.pair(0, 5).kind, (Known<LinkKind>{LinkKind::SYS, Source::sysfs}));
    snapshot.gpus[0].nvlinks[3].active = false;  // of the two to GPU 3
    snapshot.gpus[3].nvlinks[0].active = false;
    EXPECT_EQ(make_graph(snapshot).pair(0, 3).links, 1);
}

TEST(Graph, LinkOfLinksIsTheSmallerSide) {
    Snapshot snapshot = builders::hidden_switches(3);
    snapshot.gpus[1].nvlinks[0].active = false;
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(0, 1).links, 17);
    EXPECT_EQ(graph.pair(1, 0).links, 17);
    EXPECT_EQ(graph.pair(0, 2).links, 18);
    EXPECT_TRUE(graph.pair(0, 2).switch_hidden);
    EXPECT_EQ(graph.pair(0, 2).hops.value, 1);
}

TEST(Graph, OneLinkOfUnknownSpeedLeavesTheirSumUnknown) {
    Snapshot snapshot = builders::hidden_switches(2);
    snapshot.gpus[1].nvlinks[7].version = 0;
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).links, 18);
    EXPECT_FALSE(make_graph(snapshot).pair(0, 1).nominal_mbps.known());
    snapshot.gpus[1].nvlinks[7].reported_mbps = 20'000;
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).nominal_mbps, (Known<int>{18 * 20'000, Source::nvml}));
}

TEST(Graph, ChipToChipLinksWithinANumaNode) {
    Snapshot snapshot = builders::gpus(3);
    for (Gpu &gpu : snapshot.gpus) gpu.c2c_mbps = {200'000, Source::nvml};
    snapshot.gpus[1].c2c_mbps.value = 100'000;
    for (int gpu = 0; gpu < 3; ++gpu) snapshot.gpus[static_cast<std::size_t>(gpu)].numa_node = {gpu / 2, Source::sysfs};
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(0, 1).kind, (Known<LinkKind>{LinkKind::C2C, Source::nvml}));
    EXPECT_EQ(graph.pair(0, 1).nominal_mbps.value, 100'000);
    EXPECT_EQ(graph.pair(1, 2).kind.value, LinkKind::SYS);
}

/// Unknown nodes count as none, on either side, although their value is 0.
TEST(Graph, ChipToChipLinksNeedBothNumaNodes) {
    Snapshot snapshot = builders::gpus(2);
    for (Gpu &gpu : snapshot.gpus) gpu.c2c_mbps = {200'000, Source::nvml};
    for (const std::size_t known : {0U, 1U}) {
        snapshot.gpus[known].numa_node = {0, Source::sysfs};
        snapshot.gpus[1 - known].numa_node = {};
        const Graph graph = make_graph(snapshot);
        EXPECT_EQ(graph.pair(0, 1).kind.value, LinkKind::NONE);
        EXPECT_EQ(graph.pair(1, 0).kind.value, LinkKind::NONE);
    }
}

TEST(Graph, StatedFactsStandAboveFoundOnes) {
    Snapshot snapshot = builders::hidden_switches(3);
    snapshot.pair(0, 1).kind = {LinkKind::SYS, Source::override_file};
    snapshot.pair(0, 2).links = {9, Source::override_file};
    snapshot.pair(1, 2).mbps = {123'000, Source::override_file};
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(0, 1).kind, (Known<LinkKind>{LinkKind::SYS, Source::override_file}));
    EXPECT_EQ(graph.pair(0, 1).links, 0);
    EXPECT_FALSE(graph.pair(0, 1).nominal_mbps.known());
    EXPECT_EQ(graph.pair(0, 2).links, 9);
    EXPECT_EQ(graph.pair(0, 2).nominal_mbps.value, 225'000);
    EXPECT_EQ(graph.pair(1, 2).nominal_mbps, (Known<int>{123'000, Source::override_file}));
    EXPECT_EQ(graph.pair(1, 2).links, 18);
}

TEST(Graph, AStatedKindDoesNotKeepTheBandwidthOfPcie) {
    Tree tree;
    ASSERT_EQ(tree.pair(0, 1).nominal_mbps.value, 31500);
    tree.snapshot.pair(0, 1).kind = {LinkKind::NVLINK, Source::override_file};
    EXPECT_FALSE(tree.pair(0, 1).nominal_mbps.known());
    EXPECT_FALSE(tree.pair(0, 1).hops.known());
}

TEST(Graph, StatedLinksMakeAndUnmakeNvlinks) {
    Snapshot snapshot = builders::hidden_switches(2);
    for (Gpu &gpu : snapshot.gpus) gpu.numa_node = {0, Source::sysfs};
    snapshot.pair(0, 1).links = {0, Source::override_file};
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::NODE);
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).links, 0);
    snapshot.pair(0, 1).nvlink = {P2pStatus::ok, Source::nvml};
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::NODE);
    Snapshot plain = builders::gpus(2);
    plain.pair(0, 1).links = {4, Source::override_file};
    EXPECT_EQ(make_graph(plain).pair(0, 1).kind, (Known<LinkKind>{LinkKind::NVLINK, Source::override_file}));
    EXPECT_EQ(make_graph(plain).pair(0, 1).links, 4);
    EXPECT_FALSE(make_graph(plain).pair(0, 1).nominal_mbps.known());
}

TEST(Graph, SlicesOfGpusHaveNoP2pUnlessSomebodySawIt) {
    Snapshot snapshot = builders::gpus(3);
    snapshot.gpus[1].pci = snapshot.gpus[0].pci;
    snapshot.gpus[0].mig = snapshot.gpus[1].mig = true;
    snapshot.pair(0, 2).p2p_write = {true, Source::probe};
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(0, 1).kind.value, LinkKind::SAME_DEVICE);
    EXPECT_EQ(graph.pair(0, 1).p2p_write, (Known<bool>{false, Source::table}));
    EXPECT_EQ(graph.pair(0, 2).p2p_write, (Known<bool>{true, Source::probe}));
    EXPECT_FALSE(graph.pair(0, 0).p2p_write.known());
}

TEST(Graph, NothingAtAll) {
    EXPECT_EQ(make_graph({}), Graph());
    const Graph graph = make_graph(builders::gpus(2));
    EXPECT_EQ(graph.pair(0, 1).kind, (Known<LinkKind>{LinkKind::NONE, Source::none}));
    EXPECT_FALSE(graph.pair(0, 1).hops.known());
}

/// NVML reports 14.062 GB/s for GA10x's links. For others it reports the signalling rate, a little more than nominal.
TEST(Graph, LinksAreAsFastAsReportedWhereThatIsClearlyLess) {
    const auto between = [](int reported) {
        Snapshot snapshot = builders::gpus(2);
        builders::join(snapshot, 0, 1, 4, 5);
        for (Gpu &gpu : snapshot.gpus)
            for (NvLink &link : gpu.nvlinks) link.reported_mbps = reported;
        return make_graph(snapshot).pair(0, 1).nominal_mbps;
    };
    EXPECT_EQ(between(0), (Known<int>{100'000, Source::table}));
    EXPECT_EQ(between(25'781), (Known<int>{100'000, Source::table}));
    EXPECT_EQ(between(24'414), (Known<int>{100'000, Source::table})) << "25000 in other units";
    EXPECT_EQ(between(14'062), (Known<int>{56'248, Source::table}));
    EXPECT_EQ(between(12'500), (Known<int>{50'000, Source::nvml})) << "none of the table's";
}

/// hwloc's matrix has no number of links, and for GPUs of an unknown generation none is made up.
TEST(Graph, SumsOfLinksAreNotCounted) {
    Snapshot snapshot = builders::gpus(2);
    builders::join(snapshot, 0, 1, 1, 0);
    for (Gpu &gpu : snapshot.gpus) gpu.nvlinks[0].reported_mbps = 900'000;
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).links, 1) << "NVML counts links, whatever their version";
    for (Gpu &gpu : snapshot.gpus) gpu.nvlink_source = Source::hwloc_xml;
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).links, 0);
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).nominal_mbps, (Known<int>{900'000, Source::hwloc_xml}));
    snapshot.pair(0, 1).links = {2, Source::override_file};
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).links, 2);
    EXPECT_FALSE(make_graph(snapshot).pair(0, 1).nominal_mbps.known()) << "nobody tells what one of them carries";
}

TEST(GbpsText, LosesNothingThatMatters) {
    EXPECT_EQ(gbps_text(450'000), "450");
    EXPECT_EQ(gbps_text(15'754), "15.8");
}

}  // namespace
}  // namespace baton::topology
