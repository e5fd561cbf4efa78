#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/refusal.hpp"
#include "tests/topology/texts.hpp"
#include "topology/graph.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

Snapshot read(const std::string &text) { return read_hwloc_xml(text, "file.xml"); }
std::string why_not(const std::string &text) {
    return test::refusal([&] { read(text); });
}

TEST(HwlocXml, Processors) {
    const Host host = read(texts::hwloc).host;
    EXPECT_EQ(host.cpu_model, "Some CPU");
    EXPECT_EQ(host.source, Source::hwloc_xml);
    EXPECT_EQ(host.packages, 2);
    EXPECT_EQ(host.cores, 1);
    EXPECT_EQ(host.pus, 2);
    EXPECT_EQ(host.core_list, (std::vector<std::string>{"0,2"}));
    EXPECT_EQ(host.numa_list, (std::vector<NumaNode>{{0, "0-3", 4096}, {1, "4-7", 0}}));
}

TEST(HwlocXml, DevicesInTheOrderOfTheirAddresses) {
    const Snapshot snapshot = read(texts::hwloc);
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    EXPECT_EQ(to_string(snapshot.gpus[0].pci.value), "0000:01:00.0");
    EXPECT_EQ(snapshot.gpus[0].name, "NVIDIA 10de:1db1");
    EXPECT_FALSE(snapshot.gpus[0].uuid.known());
    EXPECT_EQ(snapshot.gpus[1].uuid, (Known<std::string>{"GPU-second", Source::hwloc_xml}));
    EXPECT_EQ(snapshot.gpus[1].name, "Tesla V100");
    EXPECT_EQ(snapshot.gpus[1].numa_node, (Known<int>{0, Source::hwloc_xml}));
    EXPECT_EQ(snapshot.gpus[1].cpuset.value, "0-3");
    ASSERT_EQ(snapshot.nics.size(), 1u);
    EXPECT_EQ(snapshot.nics[0].name, "mlx5_0");
    EXPECT_EQ(snapshot.nics[0].kind, NicKind::infiniband);
    EXPECT_EQ(to_string(snapshot.nics[0].pci.value), "0000:03:00.1");
    ASSERT_EQ(snapshot.nvswitches.size(), 1u);  // by its subtype: its PCI class is broken
    EXPECT_TRUE(snapshot.gaps.empty());
}

TEST(HwlocXml, ImplausibleLinkSpeedsAreUnknown) {
    const Snapshot snapshot = read(texts::hwloc);
    const auto &pci = snapshot.pci;
    EXPECT_FALSE(pci[static_cast<std::size_t>(snapshot.gpus[0].pci_node)].mbps.known());
    EXPECT_EQ(pci[static_cast<std::size_t>(snapshot.gpus[1].pci_node)].mbps.value, 15754);
    // A single lane: a device may have no more, but virtual ports only claim it.
    std::string text = texts::hwloc;
    for (int link = 0; link < 2; ++link) text = texts::changed(text, "15.753846", "1.969231");
    const Snapshot lanes = read(text);
    const PciNode &device = lanes.pci[static_cast<std::size_t>(lanes.gpus[1].pci_node)];
    EXPECT_EQ(device.mbps.value, 1969);
    EXPECT_FALSE(lanes.pci[static_cast<std::size_t>(device.parent)].mbps.known());
}

TEST(HwlocXml, WithoutMatrixNvlinksAreAGap) {
    const Snapshot snapshot = read(texts::changed(texts::hwloc, "NVLinkBandwidth", "Other"));
    EXPECT_TRUE(snapshot.gpus[0].nvlinks.empty());
    ASSERT_EQ(snapshot.gaps.size(), 1u);
    EXPECT_NE(snapshot.gaps[0].find("NVLinks are unknown"), std::string::npos);
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::PHB);
}

TEST(HwlocXml, RootsAtTheWholeMachineSayNothing) {  // as where the firmware tells no NUMA node
    const std::string text = R"(<topology version="2.0"><object type="Machine" cpuset="0x3" nodeset="0x3">
      <object type="NUMANode" os_index="0" cpuset="0x1"/><object type="NUMANode" os_index="1" cpuset="0x2"/>
      <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:1db1] [0:0]"/></object></topology>)";
    const Snapshot two = read(text);
    EXPECT_FALSE(two.gpus[0].numa_node.known());
    EXPECT_FALSE(two.gpus[0].cpuset.known());
    const Snapshot one = read(texts::changed(text, "<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x2\"/>", ""));
    EXPECT_EQ(one.gpus[0].numa_node.value, 0);
    EXPECT_EQ(one.gpus[0].cpuset.value, "0-1");
    // A GPU's own memory, which has no processors, makes no second node.
    const Snapshot with_memory = read(texts::changed(text, "cpuset=\"0x2\"", "cpuset=\"0x0\""));
    EXPECT_EQ(with_memory.gpus[0].cpuset.value, "0-1");
}

TEST(HwlocXml, OfSeveralMemoriesBesideTheSameProcessorsTheFirstIsTheDevices) {  // HBM beside DRAM, a GPU's own memory
    for (const char *processors : {"0x0000000f", "0x0"}) {
        const std::string more = fmt::format(R"(nodeset="0x00000005" gp_index="2">
          <object type="NUMANode" os_index="2" cpuset="{}" nodeset="0x4" gp_index="99"/>)",
                                             processors);
        const Snapshot snapshot = read(texts::changed(texts::hwloc, R"(nodeset="0x00000001" gp_index="2">)", more));
        EXPECT_EQ(snapshot.host.numa_nodes, 3);
        for (const Gpu &gpu : snapshot.gpus) EXPECT_EQ(gpu.numa_node, (Known<int>{0, Source::hwloc_xml}));
        EXPECT_EQ(snapshot.pci[0].numa_nodes, std::vector<int>{0});
    }
}

TEST(HwlocXml, MemoryBesideTheProcessorsOfSeveralNodesIsNoPlace) {  // CXL's, at the whole machine
    const Snapshot snapshot = read(R"(<topology version="2.0"><object type="Machine" cpuset="0xff" nodeset="0x7">
      <object type="NUMANode" os_index="2" cpuset="0xff"/>
      <object type="Package" cpuset="0xf" nodeset="0x5"><object type="NUMANode" os_index="0" cpuset="0xf"/>
        <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:1db1] [0:0]"/></object>
      <object type="Package" cpuset="0xf0" nodeset="0x6"><object type="NUMANode" os_index="1" cpuset="0xf0"/>
        <object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0302 [10de:1db1] [0:0]"/></object></object></topology>)");
    EXPECT_EQ(snapshot.gpus[0].numa_node.value, 0);
    EXPECT_EQ(snapshot.gpus[1].numa_node, (Known<int>{1, Source::hwloc_xml}));
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::SYS);
}

TEST(HwlocXml, RootsOfASocketOfSeveralNodesAreNearAllOfThem) {
    const Snapshot snapshot = read(R"(<topology version="2.0"><object type="Machine" cpuset="0xff" nodeset="0x7">
      <object type="Package" cpuset="0xf" nodeset="0x3">
        <object type="NUMANode" os_index="0" cpuset="0x3"/><object type="NUMANode" os_index="1" cpuset="0xc"/>
        <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:1db1] [0:0]"/>
        <object type="PCIDev" pci_busid="0000:02:00.0" pci_type="0302 [10de:1db1] [0:0]"/></object>
      <object type="Package" cpuset="0xf0" nodeset="0x4"><object type="NUMANode" os_index="2" cpuset="0xf0"/>
        <object type="PCIDev" pci_busid="0000:81:00.0" pci_type="0302 [10de:1db1] [0:0]"/></object></object></topology>)");
    EXPECT_EQ(snapshot.pci[0].numa_nodes, (std::vector<int>{0, 1}));
    EXPECT_FALSE(snapshot.gpus[0].numa_node.known());
    EXPECT_EQ(snapshot.gpus[0].cpuset.value, "0-3");
    const Graph graph = make_graph(snapshot);
    EXPECT_EQ(graph.pair(0, 1).kind.value, LinkKind::NODE);
    EXPECT_EQ(graph.pair(0, 2).kind.value, LinkKind::SYS);
}

TEST(HwlocXml, MoreDevicesThanThereIsRoomForArePassedOver) {  // thousands of virtual functions
    std::string text = R"(<topology version="2.0"><object type="Machine">)";
    for (int device = 0; device < 300; ++device)
        text += fmt::format(R"(<object type="PCIDev" pci_busid="{:04x}:01:00.0" pci_type="0200 [15b3:101e] [0:0]"/>)"
                            R"(<object type="PCIDev" pci_busid="{:04x}:02:00.0" pci_type="0302 [10de:2335] [0:0]"/>)",
                            device, device);
    const Snapshot snapshot = read(text + "</object></topology>");
    EXPECT_EQ(snapshot.gpus.size(), 256u);
    EXPECT_EQ(snapshot.nics.size(), 256u);
    EXPECT_EQ(snapshot.pci.size(), 600u);
    for (const char *gap :
         {"more than 256 GPUs: the others are passed over", "more than 256 NICs: the others are passed over"})
        EXPECT_EQ(std::count(snapshot.gaps.begin(), snapshot.gaps.end(), gap), 1) << gap;
}

TEST(HwlocXml, Version1HasNumaNodesAsParents) {
    const Snapshot snapshot = read(R"(<topology><object type="Machine" cpuset="0x0000ffff">
      <object type="NUMANode" os_index="0" cpuset="0x000000ff" nodeset="0x00000001" local_memory="5">
        <object type="Socket" os_index="0" cpuset="0x000000ff"><object type="PU" os_index="0" cpuset="0x00000001"/></object>
        <object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[00-ff]">
          <object type="PCIDev" pci_busid="0000:06:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1" pci_link_speed="15.75"/>
        </object></object>
      <object type="NUMANode" os_index="1" cpuset="0x0000ff00" nodeset="0x00000002" local_memory="5"/>
      </object></topology>)");
    EXPECT_EQ(snapshot.host.packages, 1);
    EXPECT_EQ(snapshot.host.numa_nodes, 2);
    ASSERT_EQ(snapshot.gpus.size(), 1u);
    EXPECT_EQ(snapshot.gpus[0].numa_node.value, 0);
}

TEST(HwlocXml, Version3HasOsDeviceTypesAsBits) {
    const std::string three = texts::changed(texts::hwloc, "version=\"2.0\"", "version=\"3.0\"");
    EXPECT_EQ(read(three).nics[0].name, "0000:03:00.1");
    const std::string network = texts::changed(three, "osdev_type=\"2\"", "osdev_type=\"16\"");
    EXPECT_EQ(read(network).nics[0].name, "ib0");
    EXPECT_EQ(read(texts::changed(network, "osdev_type=\"3\"", "osdev_type=\"32\"")).nics[0].name, "mlx5_0");
}

TEST(HwlocXml, WithoutIoObjectsThereIsAGap) {
    const Snapshot snapshot = read("<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x1\"/></topology>");
    EXPECT_TRUE(snapshot.gpus.empty());
    ASSERT_EQ(snapshot.gaps.size(), 1u);
    EXPECT_NE(snapshot.gaps[0].find("file.xml: no PCI objects"), std::string::npos);
}

/// Each root has its own copy of these sets.
TEST(HwlocXml, ManyRootsNearManyProcessorsAreRefused) {
    std::string every_other = "0x55555555";
    for (int words = 1; words < 256; ++words) every_other += ",0x55555555";
    std::string text = fmt::format(
        "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"{0}\" nodeset=\"{0}\">\n", every_other);
    for (int roots = 0; roots < 1024; ++roots) text += "<object type=\"Bridge\" bridge_type=\"0-1\"/>\n";
    EXPECT_NE(why_not(text + "</object></topology>").find("PCI roots have more than 16777216 bytes"),
              std::string::npos);
}

TEST(HwlocXml, RefusalsNameFileLineAndReason) {
    EXPECT_EQ(why_not("<system/>"), "file.xml: line 1: the root element is <system>; hwloc's is <topology>");
    EXPECT_EQ(why_not("<topology/>"), "file.xml: line 1: no <object> in <topology>");
    EXPECT_EQ(why_not(texts::hwloc.substr(0, texts::hwloc.find("<info name=\"PCIDevice\""))),
              "file.xml: line 16: Start-end tags mismatch");
    EXPECT_EQ(why_not(texts::changed(texts::hwloc, "version=\"2.0\"", "version=\"4.0\"")),
              "file.xml: line 3: version \"4.0\" of hwloc's format is not known");
    EXPECT_EQ(why_not(texts::changed(texts::hwloc, "0000:02:00.0", "nowhere")),
              "file.xml: line 15: pci_busid=\"nowhere\" is no PCI address");
    EXPECT_EQ(why_not(texts::changed(texts::hwloc, "0302 [10de:1db1]", "GPU")).find("file.xml: line 15: pci_type="),
              0u);
    EXPECT_EQ(why_not(texts::changed(texts::hwloc, "nodeset=\"0x00000001\" gp_index=\"2\"",
                                     "nodeset=\"all\" gp_index=\"2\"")),
              "file.xml: line 6: nodeset=\"all\" is no set");
    EXPECT_EQ(why_not(texts::changed(texts::hwloc,
                                     "os_index=\"0\" cpuset=\"0x0000000f\" nodeset=\"0x00000001\" gp_index=\"3\"",
                                     "os_index=\"-1\"")),
              "file.xml: line 8: os_index=\"-1\" is no number");
    EXPECT_EQ(why_not(texts::changed(texts::hwloc, "12 14 33 ", "12 14 ")),
              "file.xml: line 37: matrix NVLinkBandwidth: 9 values for 2 objects, not 4");
    EXPECT_EQ(why_not(texts::changed(texts::hwloc, "50000 75000", "50000 -5")),
              "file.xml: line 37: matrix NVLinkBandwidth: \"-5\" is no number");
}

TEST(HwlocXml, DevicesThatAreOneAreRefused) {
    EXPECT_EQ(why_not(texts::changed(texts::hwloc, "0000:02:00.0", "0000:01:00.0")),
              "file.xml: gpus[1].pci: gpus[0] is at this address too");
}

TEST(HwlocXml, DeepNestingIsRefused) {
    std::string text = "<topology version=\"2.0\">", io = "<topology version=\"2.0\"><object type=\"Machine\">";
    for (int level = 0; level < 100'000; ++level) {
        text += "<object type=\"Group\">";
        io += "<object type=\"Bridge\" bridge_type=\"0-1\">";
    }
    for (int level = 0; level < 100'000; ++level) {
        text += "</object>";
        io += "</object>";
    }
    EXPECT_NE(why_not(text + "</topology>").find("nested deeper than 64"), std::string::npos);
    EXPECT_NE(why_not(io + "</object></topology>").find("nested deeper than 64"), std::string::npos);
}

}  // namespace
}  // namespace baton::topology
