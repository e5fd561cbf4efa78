#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.hpp"
#include "tests/topology/texts.hpp"
#include "topology/graph.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

Snapshot read(const std::string &text) { return read_nccl_xml(text, "topo.xml"); }
std::string why_not(const std::string &text) {
    return test::refusal([&] { read(text); });
}

TEST(NcclXml, GpusNicsAndNodes) {
    const Snapshot snapshot = read(texts::nccl);
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    EXPECT_EQ(snapshot.gpus[0].name, "GPU of sm_90");
    EXPECT_EQ(snapshot.gpus[0].numa_node, (Known<int>{0, Source::nccl_xml}));
    EXPECT_EQ(snapshot.gpus[0].cpuset.value, "0-3");
    EXPECT_EQ(snapshot.host.numa_list, (std::vector<NumaNode>{{0, "0-3", 0}, {1, "4-7", 0}}));
    ASSERT_EQ(snapshot.nics.size(), 2u);
    EXPECT_EQ(snapshot.nics[0].name, "mlx5_3");
    EXPECT_EQ(snapshot.nics[0].kind, NicKind::infiniband);
    EXPECT_EQ(snapshot.nics[1].name, "virt0");
    EXPECT_FALSE(snapshot.nics[1].pci.known());
    EXPECT_TRUE(snapshot.gaps.empty());
}

TEST(NcclXml, EachPortOfACardIsANicAndOnesWithoutPciAreDevices) {
    std::string text = texts::changed(texts::nccl, R"(port="1"/></nic>)", R"(port="1"/><net name="mlx5_4"/></nic>)");
    text = texts::changed(text, R"(<nic><net name="virt0" dev="1"/></nic>)",
                          R"(<nic><net name="virt0"/></nic><nic><net name="virt1"/></nic>)");
    const Snapshot snapshot = read(text);
    const Graph graph = make_graph(snapshot);
    ASSERT_EQ(snapshot.nics.size(), 4u);
    EXPECT_EQ(snapshot.nics[1].name, "mlx5_4");
    EXPECT_EQ(graph.nic_pair(0, 1).kind.value, LinkKind::PIX);
    EXPECT_EQ(graph.nic_path(0, 1).kind.value, LinkKind::PIX);
    EXPECT_EQ(snapshot.nics[3].name, "virt1");
    EXPECT_EQ(snapshot.nics[3].numa_node.value, 1);
    EXPECT_EQ(graph.nic_pair(2, 3).kind.value, LinkKind::PHB);
    EXPECT_EQ(graph.nic_pair(0, 3).kind.value, LinkKind::SYS);
    for (const Nic &nic : snapshot.nics)
        EXPECT_EQ(snapshot.pci[static_cast<std::size_t>(nic.pci_node)].kind, PciKind::nic);
}

TEST(NcclXml, HiddenSwitches) {
    const Graph graph = make_graph(read(texts::nccl));
    EXPECT_EQ(graph.pair(0, 1).kind, (Known<LinkKind>{LinkKind::NVSWITCH, Source::nccl_xml}));
    EXPECT_TRUE(graph.pair(0, 1).switch_hidden);
    EXPECT_EQ(graph.pair(0, 1).links, 17);
    EXPECT_EQ(graph.pair(0, 1).nominal_mbps, (Known<int>{425'000, Source::table}));
    EXPECT_EQ(graph.nic_path(0, 0).kind.value, LinkKind::PIX);
    EXPECT_EQ(graph.nic_path(0, 1).kind.value, LinkKind::SYS);
    const std::string unnamed = texts::changed(texts::nccl, "fffffff:ff:ff.0", "fffffff:ffff:ff");
    EXPECT_EQ(read(unnamed), read(texts::nccl));
}

TEST(NcclXml, LinksToAGpuThatIsNotInTheFile) {
    std::string text = texts::changed(texts::nccl, "fffffff:ff:ff.0", "0000:77:00.0");
    text = texts::changed(text, R"(tclass="0x068000")", R"(tclass="0x030200")");
    const Snapshot snapshot = read(text);
    EXPECT_EQ(snapshot.gpus[0].nvlinks[0].far_end, FarEnd::gpu);
    EXPECT_EQ(snapshot.gpus[0].nvlinks[0].peer_gpu, -1);
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::PIX);
}

/// Clouds' overlays have no <gpu>, so displays count as GPUs; but a server's console is a display of another vendor.
TEST(NcclXml, DisplaysOfOthersAreNoGpus) {
    const std::string display = R"(<pci busid="0000:0a:00.0" class="0x030000" vendor="0x1a03" device="0x2000"/></cpu>)";
    EXPECT_EQ(read(texts::changed(texts::nccl, "</cpu>", display)).gpus.size(), 2u);
}

TEST(NcclXml, SpeedsOfPciLinks) {
    std::string text = texts::nccl;
    for (int gpu = 0; gpu < 2; ++gpu) text = texts::changed(text, "<nvlink", "<gone");
    const Pair pair = make_graph(read(text)).pair(0, 1);
    EXPECT_EQ(pair.kind.value, LinkKind::PIX);
    EXPECT_EQ(pair.nominal_mbps, (Known<int>{16 * 1969, Source::nccl_xml}));
}

/// As NCCL writes them where sysfs has no path to a device, where Linux knows no width, and for NICs that it merges.
TEST(NcclXml, PciLinksThatNobodyKnows) {
    for (const char *width : {"", "0", "255", "128"}) {
        std::string text = texts::nccl;
        for (int link = 0; link < 2; ++link) {
            text = texts::changed(text, "<nvlink", "<gone");
            text = texts::changed(text, R"(link_width="16")", fmt::format(R"(link_width="{}")", width));
        }
        const Snapshot snapshot = read(text);  // changed: the links of the switch and of GPU 0, not of GPU 1
        EXPECT_FALSE(snapshot.pci[1].mbps.known()) << width;
        EXPECT_FALSE(snapshot.pci[2].mbps.known()) << width;
        EXPECT_TRUE(snapshot.pci[3].mbps.known()) << width;
    }
    EXPECT_EQ(why_not(texts::changed(texts::nccl, R"(link_width="16")", R"(link_width="wide")")),
              "topo.xml: line 3: link_width=\"wide\" of <pci> is no number from 0 to 2147483647");
}

TEST(NcclXml, VisibleSwitchesAndDirectLinks) {
    const std::string seen = texts::changed(texts::changed(texts::nccl, "fffffff:ff:ff.0", "0000:c0:00.0"),
                                            "fffffff:ff:ff.0", "0000:c0:00.0");
    const Snapshot snapshot = read(seen);
    ASSERT_EQ(snapshot.nvswitches.size(), 1u);
    EXPECT_EQ(to_string(snapshot.nvswitches[0].pci.value), "0000:c0:00.0");
    EXPECT_EQ(snapshot.gpus[1].nvlinks[0].peer_switch, 0);
    const std::string direct = texts::changed(texts::changed(texts::nccl, "fffffff:ff:ff.0", "0000:12:00.0"),
                                              "fffffff:ff:ff.0", "0000:11:00.0");
    EXPECT_EQ(make_graph(read(direct)).pair(0, 1).kind.value, LinkKind::NVLINK);
    EXPECT_EQ(make_graph(read(direct)).pair(0, 1).links, 17);
}

/// POWER9: each GPU has NVLinks to its processor, which do not join it to the others.
TEST(NcclXml, LinksToTheProcessor) {
    std::string text = texts::nccl;
    for (int gpu = 0; gpu < 2; ++gpu) {
        text = texts::changed(text, "fffffff:ff:ff.0", fmt::format("0006:00:00.{}", gpu));
        text = texts::changed(text, R"(tclass="0x068000")", R"(tclass="0x068001")");
    }
    const Snapshot snapshot = read(text);
    EXPECT_EQ(snapshot.gpus[0].nvlinks[0].far_end, FarEnd::cpu);
    EXPECT_TRUE(snapshot.nvswitches.empty());
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::PIX);
}

TEST(NcclXml, MoreSwitchesThanThereIsRoomForArePassedOver) {
    std::string text = R"(<system version="1"><cpu numaid="0" affinity="f">)";
    for (int gpu = 0; gpu < 6; ++gpu) {
        text += fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="0x030200"><gpu dev="{}" sm="90">)", gpu + 1, gpu);
        for (int link = 0; link < 60; ++link)
            text += fmt::format(R"(<nvlink target="0001:{:02x}:{:02x}.0" count="1" tclass="0x068000"/>)", link, gpu);
        text += "</gpu></pci>";
    }
    const Snapshot snapshot = read(text + "</cpu></system>");
    EXPECT_EQ(snapshot.nvswitches.size(), 256u);
    EXPECT_EQ(snapshot.gpus[5].nvlinks.size(), 60u);
    EXPECT_EQ(snapshot.gpus[5].nvlinks[59].far_end, FarEnd::nvswitch);
    EXPECT_EQ(snapshot.gaps, std::vector<std::string>{"more than 256 NVSwitches: the others are passed over"});
}

TEST(NcclXml, OverlaysOfCloudsHaveNoGpuElements) {
    std::string text = texts::nccl;
    for (int gpu = 0; gpu < 2; ++gpu) {
        const std::size_t start = text.find("<gpu"), end = text.find("</gpu>");
        text.erase(start, end + 6 - start);
    }
    const Snapshot snapshot = read(text);
    EXPECT_EQ(snapshot.gpus.size(), 2u);
    EXPECT_EQ(snapshot.gpus[0].name, "NVIDIA 10de:2335");
    ASSERT_EQ(snapshot.gaps.size(), 1u);
    EXPECT_NE(snapshot.gaps[0].find("NVLinks are unknown"), std::string::npos);
}

TEST(NcclXml, UnknownNumaNode) {
    const Snapshot snapshot = read(texts::changed(texts::nccl, "numaid=\"0\"", "numaid=\"-1\""));
    EXPECT_FALSE(snapshot.gpus[0].numa_node.known());
    EXPECT_EQ(snapshot.host.numa_list.size(), 1u);
    EXPECT_EQ(read(texts::changed(texts::nccl, "numaid=\"0\"", "numaid=\"\"")), snapshot);
}

TEST(NcclXml, OneHost) {
    const std::string first = texts::changed(texts::nccl, "<cpu numaid=\"0\"", "<cpu host_hash=\"0x1\" numaid=\"0\"");
    EXPECT_EQ(read(first), read(texts::nccl));
    EXPECT_EQ(read(texts::changed(first, "<cpu numaid=\"1\"", "<cpu host_hash=\"0x1\" numaid=\"1\"")), read(first));
    EXPECT_EQ(why_not(texts::changed(first, "<cpu numaid=\"1\"", "<cpu host_hash=\"0x2\" numaid=\"1\"")),
              "topo.xml: line 19: host_hash=\"0x2\" is another host than \"0x1\"; a file may describe only one");
    // Not every <cpu> need have a hash.
    const std::string two = texts::changed(texts::nccl, "</system>",
                                           "<cpu host_hash=\"0x1\" numaid=\"2\" affinity=\"\"/>"
                                           "<cpu host_hash=\"0x2\" numaid=\"3\" affinity=\"\"/></system>");
    EXPECT_THAT(why_not(two), testing::HasSubstr("host_hash=\"0x2\" is another host than \"0x1\""));
}

TEST(NcclXml, ChipToChipLinks) {
    const Snapshot snapshot = read(texts::changed(texts::nccl, "<nvlink", "<c2c count=\"2\" bw=\"40000\"/><nvlink"));
    EXPECT_EQ(snapshot.gpus[0].c2c_links.value, 2);
    EXPECT_EQ(snapshot.gpus[0].c2c_mbps, (Known<int>{80'000, Source::nccl_xml}));
}

/// As in files of virtual machines, for GPUs without such links.
TEST(NcclXml, NoChipToChipLinks) {
    std::string text = texts::nccl;
    for (int gpu = 0; gpu < 2; ++gpu) text = texts::changed(text, "<nvlink", "<c2c count=\"0\" bw=\"40000\"/><gone");
    const Snapshot snapshot = read(text);
    EXPECT_FALSE(snapshot.gpus[0].c2c_links.known());
    EXPECT_FALSE(snapshot.gpus[0].c2c_mbps.known());
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::PIX);
}

/// The A40, the RTX A6000 and their like have the A100's NVLink 3, at little more than half its speed.
TEST(NcclXml, LinksOfGa10xAreSlower) {
    std::string text = texts::nccl;
    for (const char *of : {"fffffff:ff:ff.0\" count=\"18", "fffffff:ff:ff.0\" count=\"17"})
        text = texts::changed(text, of, "fffffff:ff:ff.0\" count=\"4");
    const auto of_sm = [&](const std::string &sm) {
        std::string of = text;
        for (int gpu = 0; gpu < 2; ++gpu) of = texts::changed(of, "sm=\"90\"", "sm=\"" + sm + "\"");
        return make_graph(read(of)).pair(0, 1);
    };
    EXPECT_EQ(of_sm("86").nominal_mbps, (Known<int>{4 * 14'062, Source::table}));
    EXPECT_EQ(of_sm("86").links, 4);
    EXPECT_EQ(of_sm("80").nominal_mbps, (Known<int>{100'000, Source::table}));
}

TEST(NcclXml, EmptySystemIsAGap) {
    const Snapshot snapshot = read("<system version=\"1\"/>");
    EXPECT_TRUE(snapshot.gpus.empty());
    EXPECT_EQ(snapshot.gaps.size(), 1u);
}

TEST(NcclXml, RefusalsNameFileLineAndReason) {
    EXPECT_EQ(why_not("<topology/>"), "topo.xml: line 1: the root element is <topology>; NCCL's is <system>");
    EXPECT_EQ(why_not(texts::changed(texts::nccl, "count=\"18\"", "count=\"many\"")),
              "topo.xml: line 6: count=\"many\" of <nvlink> is no number from 1 to 64");
    EXPECT_EQ(why_not(texts::changed(texts::nccl, "count=\"18\"", "count=\"-1\"")),
              "topo.xml: line 6: count=\"-1\" of <nvlink> is no number from 1 to 64");
    EXPECT_EQ(why_not(texts::changed(texts::nccl, "0000:11:00.0", "11")),
              "topo.xml: line 4: busid=\"11\" is no PCI address");
    EXPECT_EQ(why_not(texts::changed(texts::nccl, "00000000,0000000f", "0-3")),
              "topo.xml: line 2: affinity=\"0-3\" is no set of processors");
    EXPECT_EQ(why_not(texts::changed(texts::nccl, "fffffff:ff:ff.0", "switch")),
              "topo.xml: line 6: target=\"switch\" is no PCI address");
    EXPECT_NE(why_not(texts::nccl.substr(0, 700)).find("topo.xml: line "), std::string::npos);
}

}  // namespace
}  // namespace baton::topology
