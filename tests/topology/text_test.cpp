#include "topology/tool/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/builders.hpp"
#include "topology/readers.hpp"
#include "topology/tool/machine.hpp"
#include "topology/tool/picture_links.hpp"
#include "topology/tool/table.hpp"
#include "topology/tool/view.hpp"

namespace baton::topology {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Text, LegendHasWhatIsUsed) {
    Abbreviations used;
    EXPECT_EQ(used.legend(), "");
    EXPECT_EQ(used.word("NVLink-C2C") + used.word("yes"), "NVLink-C2Cyes");
    EXPECT_EQ(used.legend(), "");
    EXPECT_EQ(used.kind(LinkKind::NVLINK, 12) + used.kind(LinkKind::NVSWITCH, 0) + used.word("SYS"), "NV12NV?SYS");
    EXPECT_EQ(used.legend(),
              "Legend:\n"
              "  SYS  = PCIe and the link between NUMA nodes\n"
              "  NV#  = # NVLinks at once, direct or by way of NVSwitches\n"
              "  NV?  = NVLinks, not known how many\n");
}

/// Ports that lead to one thing only are left out, but their speed counts.
TEST(Text, DevicesHaveTheSpeedOfTheSlowestLinkAboveThem) {
    Snapshot snapshot = builders::gpus(1);
    const int host = builders::add_pci(snapshot, PciKind::host_bridge, -1);
    const int port = builders::add_pci(snapshot, PciKind::bridge, host, 15750);
    snapshot.gpus[0].pci_node = builders::add_pci(snapshot, PciKind::gpu, port, 31500);
    EXPECT_EQ(view_of(snapshot)[0].nodes[0].branches[0].mbps, 15750);
    snapshot.pci[static_cast<std::size_t>(port)].mbps = {};
    EXPECT_EQ(view_of(snapshot)[0].nodes[0].branches[0].mbps, 31500);
}

/// A file may have only the sum of the links' bandwidths, where that of one link is unknown.
TEST(Text, UncountedLinksAreNotTakenForOne) {
    Snapshot snapshot = builders::gpus(2);
    for (int gpu = 0; gpu < 2; ++gpu) {
        Gpu &from = snapshot.gpus[static_cast<std::size_t>(gpu)];
        from.nvlink_source = Source::hwloc_xml;
        NvLink &link = from.nvlinks.emplace_back();
        link.active = true;
        link.reported_mbps = 900'000;
        link.far_end = FarEnd::gpu;
        link.peer_gpu = 1 - gpu;
    }
    const Machine machine = make_machine("", snapshot);
    EXPECT_THAT(tree_text(machine), HasSubstr("; NVLinks: ? to GPU 1"));
    EXPECT_EQ(picture::direct_links(machine).at(0).links, 0);
    for (Gpu &gpu : snapshot.gpus) gpu.nvlinks[0].far_end = FarEnd::hidden_switch;
    for (Gpu &gpu : snapshot.gpus) gpu.nvlinks[0].peer_gpu = -1;
    EXPECT_EQ(picture::fabric_links(make_machine("", snapshot)).at(0).links, 0);
}

/// Firmware may say only that a device is at a socket of several NUMA nodes.
TEST(Text, TreesNearSeveralNodesHangAtTheirSocket) {
    Snapshot snapshot;
    snapshot.host.package_list = {{"0-7"}, {"8-15"}};
    snapshot.host.numa_list = {{0, "0-3", 0}, {1, "4-7", 0}, {2, "8-11", 0}, {3, "12-15", 0}};
    for (const std::vector<int> &near : {std::vector<int>{2, 3}, {0, 1}, {}, {1, 2}}) {
        PciNode root;
        root.kind = PciKind::gpu;
        root.numa_nodes = near;
        snapshot.gpus.emplace_back().pci_node = static_cast<int>(snapshot.pci.size());
        snapshot.pci.push_back(root);
    }
    snapshot.pairs.resize(16);
    const std::vector<SocketView> sockets = view_of(snapshot);
    ASSERT_EQ(sockets.size(), 3U);
    ASSERT_EQ(sockets[0].nodes.size(), 3U);
    EXPECT_EQ(sockets[0].nodes[2].os_index, -1);
    EXPECT_EQ(sockets[0].nodes[2].branches[0].gpus, std::vector<int>{1});
    EXPECT_EQ(sockets[1].nodes[2].branches[0].gpus, std::vector<int>{0});
    EXPECT_EQ(sockets[2].index, -1);
    ASSERT_EQ(sockets[2].nodes[0].branches.size(), 2U) << "near nobody, and near two sockets";
    EXPECT_EQ(sockets[2].nodes[0].branches[0].gpus, std::vector<int>{2});
    EXPECT_EQ(sockets[2].nodes[0].branches[1].gpus, std::vector<int>{3});
}

/// Words in the names of devices are no abbreviations of links.
TEST(Text, LegendIsNotTakenFromNames) {
    Snapshot snapshot = read_machine_file(BATON_MACHINES "/l40s-pcie-dual-socket.xml");
    for (Gpu &gpu : snapshot.gpus) gpu.name = "GeForce GTX TITAN X";
    snapshot.nics[0].name = "N/A DEV NV4 ?";
    const Machine machine = make_machine("", snapshot);
    Abbreviations used;
    const std::string ring = ring_text(machine, used);
    EXPECT_EQ(used.legend(), "Legend:\n  SYS  = PCIe and the link between NUMA nodes\n");
    const std::string all = matrix_text(machine, used) + nic_names_text(machine) + tree_text(machine);
    EXPECT_THAT(all, AllOf(HasSubstr("TITAN X"), HasSubstr("NV4 ?")));
    for (const char *word : {"  N/A ", "  DEV ", "  NV# ", "  ? "}) EXPECT_THAT(used.legend(), Not(HasSubstr(word)));
}

TEST(Text, LegendHasTheReasonsWords) {
    Abbreviations used;
    bandwidth_text(make_machine("", read_machine_file(BATON_MACHINES "/power9-v100.xml")), used);
    for (const char *word : {"  X ", "  SYS ", "  NV# ", "  ? "}) EXPECT_THAT(used.legend(), HasSubstr(word));
    EXPECT_THAT(used.legend(), Not(HasSubstr("  NODE ")));
    Abbreviations all_known;
    bandwidth_text(make_machine("", read_machine_file(BATON_MACHINES "/h200-dead-link.json")), all_known);
    EXPECT_THAT(all_known.legend(), Not(HasSubstr("  ? ")));
}

TEST(Text, ExplainsTheLettersThatAreThere) {
    const Machine pcie = make_machine("", read_machine_file(BATON_MACHINES "/a100-mig.json"));
    Abbreviations used;
    EXPECT_THAT(bandwidth_text(pcie, used), HasSubstr("\n(h: through host memory)\n"));
}

/// The matrix says that the node is not known, and the tree draws the GPUs on one.
TEST(Text, TreeSaysWhereTheNodeIsAssumed) {
    Snapshot snapshot = read_machine_file(BATON_MACHINES "/h200-dead-link.json");
    const char *assumed = "NUMA node 0: processors 0-15, 256 GiB (assumed for the GPUs: the only one)\n";
    EXPECT_THAT(tree_text(make_machine("", snapshot)), HasSubstr(assumed));
    for (Gpu &gpu : snapshot.gpus) gpu.numa_node = {0, Source::sysfs};
    EXPECT_THAT(tree_text(make_machine("", snapshot)), Not(HasSubstr("assumed")));
    const Snapshot two_nodes = read_machine_file(BATON_MACHINES "/power9-v100.xml");
    EXPECT_THAT(tree_text(make_machine("", two_nodes)), Not(HasSubstr("assumed")));
    Snapshot hidden = read_machine_file(BATON_MACHINES "/h200-dead-link.json");
    hidden.host.restriction = {"0-15", {1}};  // a container that may use the memory of one of two nodes
    const std::string tree = tree_text(make_machine("", hidden));
    EXPECT_THAT(tree, Not(HasSubstr("assumed")));
    EXPECT_THAT(tree, HasSubstr("NUMA node unknown\n"));
    Snapshot by_its_tree = read_machine_file(BATON_MACHINES "/container-memory-of-one-socket.xml");
    by_its_tree.gpus[0].numa_node = {};
    EXPECT_THAT(tree_text(make_machine("", by_its_tree)), Not(HasSubstr("assumed")));
}

TEST(Text, ListsRanksAndTheirRing) {
    const Machine machine =
        make_machine("", read_machine_file(BATON_MACHINES "/a100-nvlink-bridges.xml"), {0, 2, 1, -1});
    Abbreviations used;
    const std::string text = ranks_text(machine, used);
    EXPECT_THAT(text, HasSubstr("2      1    0000:65:00.0"));
    EXPECT_THAT(text, HasSubstr("3     none"));
    EXPECT_THAT(text, HasSubstr("Ring (ranks)"));
    EXPECT_EQ(ranks_text(make_machine("", machine.snapshot, {-1, -1}), used), "2 ranks, none with a GPU\n");
    EXPECT_EQ(ranks_text(make_machine("", machine.snapshot), used), "");
}

TEST(Text, ShowsMeasuredBesideNominal) {
    Snapshot snapshot = read_machine_file(BATON_MACHINES "/h200-dead-link.json");
    snapshot.pair(0, 1).measured_mbps = {391234, Source::measured};
    Abbreviations used;
    const std::string text = bandwidth_text(make_machine("", snapshot), used);
    EXPECT_THAT(text, HasSubstr("391.2/450 k"));
    EXPECT_THAT(text, HasSubstr("?/425 k"));
}

TEST(Table, AlignsColumns) {
    Table table;
    table.add({"", "wide heading", "b"});
    table.add({"row", "x"});
    EXPECT_EQ(table.text(), "     wide heading  b\nrow       x\n");
}

}  // namespace
}  // namespace baton::topology
