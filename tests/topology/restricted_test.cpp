#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/topology/texts.hpp"
#include "topology/graph.hpp"
#include "topology/hwloc_export.hpp"
#include "topology/readers.hpp"

// Machines of two sockets as seen by a process that may not use all of them: in a container with some of the processors
// (docker's --cpuset-cpus) or of the memory (--cpuset-mems).
namespace baton::topology {
namespace {

std::string text_of(const std::string &fixture) {
    return read_text_file(fmt::format("{}/container-{}.xml", BATON_TOPOLOGY_FIXTURES, fixture));
}

LinkKind kind(const Graph &graph, std::size_t a, std::size_t b) { return graph.pair(a, b).kind.value; }
LinkKind nic_kind(const Graph &graph, std::size_t gpu, std::size_t nic) { return graph.nic_path(gpu, nic).kind.value; }

/// Each GPU and NIC on its own node, whatever may be used.
void expect_places(const Snapshot &snapshot) {
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    ASSERT_EQ(snapshot.nics.size(), 2u);
    for (std::size_t side = 0; side < 2; ++side) {
        const Known<int> node{static_cast<int>(side), Source::hwloc_xml};
        EXPECT_EQ(snapshot.gpus[side].numa_node, node);
        EXPECT_EQ(snapshot.nics[side].numa_node, node);
        EXPECT_EQ(snapshot.gpus[side].cpuset.value, side == 0 ? "0-3" : "4-7");
    }
    EXPECT_EQ(snapshot.host.packages, 2);
    EXPECT_EQ(snapshot.host.numa_nodes, 2);
    EXPECT_EQ(snapshot.host.cores, 4);
    EXPECT_EQ(snapshot.host.pus, 4);
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(kind(graph, 0, 1), LinkKind::SYS);
    EXPECT_EQ(nic_kind(graph, 0, 0), LinkKind::PHB);
    EXPECT_EQ(nic_kind(graph, 1, 1), LinkKind::PHB);
    EXPECT_EQ(nic_kind(graph, 1, 0), LinkKind::SYS);
    EXPECT_EQ(graph.nic_pair(0, 1).kind.value, LinkKind::SYS);
}

TEST(Restricted, DevicesOfANodeWhoseMemoryMayNotBeUsedAreOnIt) {
    const Snapshot snapshot = read_hwloc_xml(text_of("memory-of-one-socket"), "x");
    expect_places(snapshot);
    EXPECT_EQ(snapshot.host.numa_list, (std::vector<NumaNode>{{0, "0-3", 16384000000}}));
    EXPECT_EQ(snapshot.host.restriction, (Restriction{"0-3", {1}}));
    EXPECT_EQ(only_numa_node(snapshot.host), nullptr);
}

TEST(Restricted, DevicesOfASocketWhoseProcessorsMayNotBeUsedAreOnIt) {
    const Snapshot snapshot = read_hwloc_xml(text_of("processors-of-one-socket"), "x");
    expect_places(snapshot);
    EXPECT_EQ(snapshot.host.package_list, (std::vector<Package>{{"0-3"}, {"4-7"}}));
    EXPECT_EQ(snapshot.host.numa_list, (std::vector<NumaNode>{{0, "0-3", 16384000000}, {1, "4-7", 16384000000}}));
    EXPECT_EQ(snapshot.host.restriction, (Restriction{"0-3", {}}));
}

/// Where the firmware does not tell the node, the one whose processors may be used is as likely as the other.
void expect_no_places(const Snapshot &snapshot) {
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    for (const Gpu &gpu : snapshot.gpus) {
        EXPECT_FALSE(gpu.numa_node.known());
        EXPECT_FALSE(gpu.cpuset.known());
    }
    for (const Nic &nic : snapshot.nics) EXPECT_FALSE(nic.numa_node.known());
    EXPECT_EQ(kind(make_graph(snapshot), 0, 1), LinkKind::SYS);
}

TEST(Restricted, NoNodeIsMadeUpWhereTheFirmwareTellsNone) {
    const std::string first = text_of("firmware-tells-no-node");
    expect_no_places(read_hwloc_xml(first, "x"));
    std::string other = first;                           // the second socket instead of the first
    for (int attribute = 0; attribute < 2; ++attribute)  // the machine's cpuset and allowed_cpuset
        other = texts::changed(other, R"(cpuset="0x0000000f" )", R"(cpuset="0x000000f0" )");
    for (int object = 0; object < 2; ++object) {  // the package and its node
        other = texts::changed(other, R"(cpuset="0x0000000f" complete_cpuset="0x0000000f")",
                               R"(cpuset="" complete_cpuset="0x0000000f")");
        other = texts::changed(other, R"(cpuset="0x0" complete)", R"(cpuset="0x000000f0" complete)");
    }
    const Snapshot second = read_hwloc_xml(other, "x");
    EXPECT_EQ(second.host.restriction, (Restriction{"4-7", {}}));
    expect_no_places(second);
}

/// Two devices that are only known to be somewhere in the machine.
const std::string one_node_seen = R"(<topology version="2.0">
  <object type="Machine" cpuset="0xf" complete_cpuset="0xff" nodeset="0x1" complete_nodeset="0x3">
    <object type="Package" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1" complete_nodeset="0x1">
      <object type="NUMANode" os_index="0" cpuset="0xf" complete_cpuset="0xf"/></object>
    <object type="Bridge" bridge_type="0-1"><object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:1db1] [0:0]"/></object>
    <object type="Bridge" bridge_type="0-1"><object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0302 [10de:1db1] [0:0]"/></object>
  </object></topology>)";

TEST(Restricted, TheOnlyNodeThatMayBeUsedIsNotTheOnlyOne) {
    expect_no_places(read_hwloc_xml(one_node_seen, "x"));
    std::string whole = texts::changed(one_node_seen, R"(complete_nodeset="0x3")", R"(complete_nodeset="0x1")");
    const Snapshot single = read_hwloc_xml(texts::changed(whole, "0xff", "0xf"), "x");
    EXPECT_FALSE(single.host.restriction);
    EXPECT_EQ(single.gpus[1].numa_node, (Known<int>{0, Source::hwloc_xml}));
    EXPECT_EQ(kind(make_graph(single), 0, 1), LinkKind::NODE);
    Snapshot told = single;  // as in a snapshot that lacks the trees' places
    for (PciNode &node : told.pci) {
        node.numa_nodes.clear();
        node.cpuset.clear();
    }
    EXPECT_EQ(kind(make_graph(told), 0, 1), LinkKind::NODE);
    told.host.restriction = {"0-3", {1}};
    EXPECT_EQ(kind(make_graph(told), 0, 1), LinkKind::SYS);
}

TEST(Restricted, MemoryWithoutProcessorsIsNoPlace) {
    const Snapshot snapshot = read_hwloc_xml(texts::changed(one_node_seen, "0xff", "0xf"), "x");
    EXPECT_FALSE(snapshot.host.restriction);
    EXPECT_EQ(snapshot.gpus[1].numa_node, (Known<int>{0, Source::hwloc_xml}));
    EXPECT_EQ(kind(make_graph(snapshot), 0, 1), LinkKind::NODE);
}

/// A virtual machine of one node whose firmware tells no place, and of which some processors may be used.
TEST(Restricted, DevicesAtTheMachineAreNearAllProcessorsOfItsParts) {
    std::string text = texts::changed(one_node_seen, R"(complete_nodeset="0x3")", R"(complete_nodeset="0x1")");
    for (int object = 0; object < 3; ++object)
        text = texts::changed(text, R"(cpuset="0xf" complete_cpuset)", R"(cpuset="0x3" complete_cpuset)");
    const Snapshot snapshot = read_hwloc_xml(text, "x");
    EXPECT_EQ(snapshot.host.restriction, (Restriction{"0-1", {}}));
    EXPECT_EQ(snapshot.gpus[0].cpuset.value, "0-3");
    EXPECT_EQ(snapshot.gpus[0].numa_node.value, 0);
}

TEST(Restricted, ProcessorsThatAreSwitchedOffAreNotKeptFromAnybody) {
    const std::string off = texts::changed(one_node_seen, R"(complete_nodeset="0x3")", R"(complete_nodeset="0x1")");
    const Snapshot snapshot = read_hwloc_xml(off, "x");
    EXPECT_FALSE(snapshot.host.restriction);
    EXPECT_EQ(snapshot.gpus[0].cpuset.value, "0-3");
}

TEST(Restricted, SetsWithoutAnEndSayNothing) {  // as old versions write them
    std::string text = texts::changed(one_node_seen, R"(complete_cpuset="0xff")", R"(complete_cpuset="0xf...f")");
    text = texts::changed(text, R"(complete_nodeset="0x3")", R"(complete_nodeset="0xf...f")");
    const Snapshot snapshot = read_hwloc_xml(text, "x");
    EXPECT_FALSE(snapshot.host.restriction);
    EXPECT_EQ(snapshot.gpus[0].cpuset.value, "0-3");
}

}  // namespace
}  // namespace baton::topology
