#include "topology/hwloc_export.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <hwloc/distances.h>

#include <algorithm>
#include <memory>

#include "support/refusal.hpp"
#include "tests/topology/builders.hpp"
#include "tests/topology/machines.hpp"
#include "tests/topology/texts.hpp"
#include "topology/graph.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

struct Destroy {
    void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
};
using Loaded = std::unique_ptr<hwloc_topology, Destroy>;

/// What hwloc itself makes of the text.
Loaded load(const std::string &text) {
    hwloc_topology_t raw = nullptr;
    hwloc_topology_init(&raw);
    Loaded topology(raw);
    EXPECT_EQ(hwloc_topology_set_xmlbuffer(raw, text.c_str(), static_cast<int>(text.size()) + 1), 0);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
    EXPECT_EQ(hwloc_topology_load(raw), 0) << text;
    hwloc_topology_check(raw);  // aborts where something is wrong
    return topology;
}

TEST(HwlocExport, HwlocReadsIt) {
    const Loaded topology = load(to_hwloc_xml(read_machine(texts::hwloc, "x")));
    EXPECT_EQ(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE), 2);
    EXPECT_EQ(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE), 2);
    EXPECT_EQ(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU), 8);
    const hwloc_obj_t gpu = hwloc_get_pcidev_by_busid(topology.get(), 0, 2, 0, 0);
    ASSERT_NE(gpu, nullptr);
    EXPECT_STREQ(hwloc_obj_get_info_by_name(gpu, "NVIDIAUUID"), "GPU-second");
    EXPECT_EQ(hwloc_get_non_io_ancestor_obj(topology.get(), gpu)->type, HWLOC_OBJ_PACKAGE);
}

TEST(HwlocExport, MatrixIsWhatHwlocCallsBandwidth) {
    const Loaded topology = load(to_hwloc_xml(read_machine(texts::hwloc, "x")));
    unsigned count = 1;
    hwloc_distances_s *distances = nullptr;
    ASSERT_EQ(hwloc_distances_get_by_name(topology.get(), "NVLinkBandwidth", &count, &distances, 0), 0);
    ASSERT_EQ(count, 1u);
    ASSERT_EQ(distances->nbobjs, 3u);
    EXPECT_TRUE(distances->kind & HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH);
    EXPECT_STREQ(distances->objs[2]->subtype, "NVSwitch");
    EXPECT_EQ(distances->objs[0]->attr->pcidev.bus, 1u);
    EXPECT_EQ(distances->values[2], 50'000u);  // GPU 0 to the switch
    EXPECT_EQ(distances->values[5], 75'000u);
    EXPECT_EQ(distances->values[1], 0u);  // by way of the switch only
    hwloc_distances_release(topology.get(), distances);
}

/// The text without the userdata, which hwloc passes over, so that the objects count.
std::string objects_only(std::string text) {
    const std::size_t begin = text.find("<userdata"), end = text.find("</userdata>");
    return text.erase(begin, end + std::string("</userdata>").size() - begin);
}

/// The facts of pairs survive the way through hwloc's objects; the sources of the facts do not.
void expect_same_pairs(const Snapshot &before, const Snapshot &after) {
    const Graph a = make_graph(before), b = make_graph(after);
    ASSERT_EQ(a.gpus, b.gpus);
    for (std::size_t index = 0; index < a.pairs.size(); ++index) {
        EXPECT_EQ(a.pairs[index].kind.value, b.pairs[index].kind.value);
        EXPECT_EQ(a.pairs[index].links, b.pairs[index].links);
        EXPECT_EQ(a.pairs[index].nominal_mbps.value, b.pairs[index].nominal_mbps.value);
        EXPECT_EQ(a.pairs[index].switch_hidden, b.pairs[index].switch_hidden);
    }
}

TEST(HwlocExport, ObjectsAloneKeepThePairs) {
    for (const std::string &text : {texts::hwloc, texts::nccl}) {
        const Snapshot before = read_machine(text, "x");
        const std::string written = objects_only(to_hwloc_xml(before));
        load(written);
        const Snapshot after = read_hwloc_xml(written, "y");
        expect_same_pairs(before, after);
        EXPECT_EQ(before.host.numa_list, after.host.numa_list);
        EXPECT_EQ(after.nics.size(), 1u);  // the other one of the second text is no PCI device
    }
}

/// Sockets and nodes that this process may not use stay where they are, and so does what is near them.
TEST(HwlocExport, ObjectsAloneKeepWhatMayNotBeUsed) {
    for (const char *name : {"memory-of-one-socket", "processors-of-one-socket", "firmware-tells-no-node"}) {
        SCOPED_TRACE(name);
        const Snapshot before = read_machine_file(fmt::format("{}/container-{}.xml", BATON_TOPOLOGY_FIXTURES, name));
        const std::string written = objects_only(to_hwloc_xml(before));
        const Loaded topology = load(written);
        EXPECT_EQ(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE), 2);
        EXPECT_EQ(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU), 4);
        const Snapshot after = read_hwloc_xml(written, "y");
        expect_same_pairs(before, after);
        EXPECT_EQ(after.host, before.host);
        EXPECT_EQ(after.gpus, before.gpus);
        EXPECT_EQ(after.nics, before.nics);
    }
}

TEST(HwlocExport, HiddenNodesAreWhereTheTreesNearThemAre) {
    Snapshot before;
    before.host.package_list = {{"0-3"}, {"4-7"}};
    before.host.numa_list = {{0, "0-1", 0}};
    before.host.restriction = {"0-5", {1, 2, 3, 4}};
    before.pci_source = Source::hwloc_xml;
    const std::pair<std::vector<int>, const char *> places[] = {
        {{0}, "0-1"}, {{1}, "2-3"}, {{0, 1}, "0-3"}, {{2, 3}, "4-7"}};
    for (const auto &[nodes, pus] : places) {
        const int root = builders::add_pci(before, PciKind::host_bridge, -1);
        before.pci[static_cast<std::size_t>(root)].numa_nodes = nodes;
        before.pci[static_cast<std::size_t>(root)].cpuset = pus;
        builders::add_pci(before, PciKind::nic, root);
    }
    const std::string written = objects_only(to_hwloc_xml(before));
    load(written);
    const Snapshot after = read_hwloc_xml(written, "y");
    EXPECT_EQ(after.host.restriction, before.host.restriction);
    for (const PciNode &root : before.pci) {
        if (root.parent >= 0) continue;
        const auto same = [&](const PciNode &node) {
            return node.parent < 0 && node.numa_nodes == root.numa_nodes && node.cpuset == root.cpuset;
        };
        EXPECT_EQ(std::count_if(after.pci.begin(), after.pci.end(), same), 1) << root.cpuset;
    }
}

/// A machine with everything that hwloc has no words for.
Snapshot machine_of_many_facts() {
    Snapshot snapshot = builders::with_p2p(builders::hidden_switches(3), true);
    snapshot.gpus[0].nvlinks[7] = {7, false, 6, 26562, FarEnd::unknown, -1, -1};
    snapshot.gpus[1].mig = snapshot.gpus[2].mig = true;
    snapshot.gpus[2].uuid = {"MIG-2", Source::nvml};
    snapshot.gpus[2].pci = snapshot.gpus[1].pci;
    snapshot.gpus[0].c2c_links = {2, Source::nvml};
    snapshot.gpus[0].c2c_mbps = {300'000, Source::nvml};
    snapshot.gpus[0].name = "a <name> & \"another\"";
    snapshot.pair(0, 1).measured_mbps = {391'234, Source::measured};
    snapshot.pair(1, 0).p2p_write = {false, Source::cuda};
    builders::add_nic(snapshot, "not on PCI", -1);
    snapshot.driver = {"580.1", Source::nvml};
    snapshot.gaps = {"something was not to be found"};
    return snapshot;
}

TEST(HwlocExport, NothingIsLost) {
    const Snapshot before = machine_of_many_facts();
    const std::string written = to_hwloc_xml(before);
    load(written);
    EXPECT_EQ(read_hwloc_xml(written, "x"), before);
}

TEST(HwlocExport, ChangedObjectsCountMoreThanTheFacts) {
    const std::string written = to_hwloc_xml(read_machine(texts::hwloc, "x"));
    const Snapshot slower = read_hwloc_xml(texts::changed(written, " 50000 ", " 25000 "), "x");
    EXPECT_EQ(make_graph(slower).pair(0, 1).links, 1);
    EXPECT_NE(slower.gaps.back().find("x: its objects are not those"), std::string::npos);
}

TEST(HwlocExport, FactsThatAreNoneAreRefused) {
    const std::string written = to_hwloc_xml(builders::hidden_switches(2));
    const auto why_not = [&](const std::string &from, const std::string &to) {
        return test::refusal([&] { read_hwloc_xml(texts::changed(written, from, to), "x.xml"); });
    };
    EXPECT_EQ(why_not("\"pairs\":", "\"paars\":").find("x.xml: userdata BatonSnapshot: "), 0u);
    EXPECT_EQ(
        why_not("\"version\":6", "\"version\":-6").find("x.xml: userdata BatonSnapshot: gpus[0].nvlinks[0].version"),
        0u);
}

TEST(HwlocExport, MachinesOfWhichLittleIsKnown) {
    load(to_hwloc_xml({}));
    load(to_hwloc_xml(builders::hidden_switches(8)));
    Snapshot odd;
    odd.host.package_list = {{"4-7"}, {"0-5"}, {""}};  // packages that overlap
    odd.host.numa_list = {{0, "0-1", 0}, {2, "6-7", 0}, {3, "", 1 << 20}, {3, "2-3", 0}, {4, "1-2", 0}};
    odd.host.core_list = {"6-7", "0,4", "1-5", "9"};
    builders::add_pci(odd, PciKind::nic, builders::add_pci(odd, PciKind::bridge, -1));
    load(to_hwloc_xml(odd));
}

TEST(HwlocExport, NicsThatAreNoPciDevicesAreNoObjects) {
    const Snapshot before = read_machine(texts::nccl, "x");
    ASSERT_FALSE(before.nics[1].pci.known());
    const std::string written = to_hwloc_xml(before);
    EXPECT_EQ(hwloc_get_nbobjs_by_type(load(written).get(), HWLOC_OBJ_PCI_DEVICE), 3);
    EXPECT_EQ(read_hwloc_xml(written, "x"), before);
}

TEST(HwlocExport, NumaNodesWithinPackagesAndOverThem) {
    Snapshot nps;
    nps.host.package_list = {{"0-7"}, {"8-15"}};
    nps.host.numa_list = {{0, "0-3", 0}, {1, "4-7", 0}, {2, "8-11", 0}, {3, "12-15", 0}, {8, "", 1 << 20}};
    const int root = builders::add_pci(nps, PciKind::host_bridge, -1);
    nps.pci[static_cast<std::size_t>(root)].numa_nodes = {2};
    builders::add_pci(nps, PciKind::nic, root);
    const Loaded topology = load(to_hwloc_xml(nps));
    EXPECT_EQ(hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE), 5);
    const hwloc_obj_t nic = hwloc_get_pcidev_by_busid(topology.get(), 1, 1, 0, 0);
    ASSERT_NE(nic, nullptr);
    EXPECT_TRUE(hwloc_bitmap_isequal(hwloc_get_non_io_ancestor_obj(topology.get(), nic)->cpuset,
                                     hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, 2)->cpuset));
    Snapshot with_hbm = nps;
    for (int node = 0; node < 4; ++node)
        with_hbm.host.numa_list.push_back(
            {node + 4, with_hbm.host.numa_list[static_cast<std::size_t>(node)].cpuset, 0});
    with_hbm.host.numa_list.push_back({9, "8-15", 0});
    with_hbm.host.numa_list.push_back({10, "0-15", 0});
    with_hbm.host.numa_list.push_back({11, "2-5", 0});  // forms no tree with the others
    EXPECT_EQ(hwloc_get_nbobjs_by_type(load(to_hwloc_xml(with_hbm)).get(), HWLOC_OBJ_NUMANODE), 11);
    Snapshot wide_first = nps;
    wide_first.host.numa_list.insert(wide_first.host.numa_list.begin(), {{9, "8-15", 0}, {10, "0-15", 0}});
    EXPECT_EQ(hwloc_get_nbobjs_by_type(load(to_hwloc_xml(wide_first)).get(), HWLOC_OBJ_NUMANODE), 7);
    Snapshot one_node = nps;
    one_node.host.numa_list = {{0, "0-15", 0}};
    EXPECT_EQ(hwloc_get_nbobjs_by_type(load(to_hwloc_xml(one_node)).get(), HWLOC_OBJ_PACKAGE), 2);
}

}  // namespace
}  // namespace baton::topology
