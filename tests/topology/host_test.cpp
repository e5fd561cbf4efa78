#include "topology/host.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "support/set_variable.hpp"
#include "tests/topology/texts.hpp"
#include "topology/discover.hpp"
#include "topology/hwloc_export.hpp"
#include "topology/index_set.hpp"
#include "topology/pci_ids.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

TEST(Host, ThisMachineHasProcessors) {
    const int loads = hwloc_loads();
    const Snapshot machine = read_hwloc();
    EXPECT_EQ(hwloc_loads(), loads + 1);
    const Host &host = machine.host;
    EXPECT_TRUE(machine.gaps.empty());
    EXPECT_EQ(host.source, Source::hwloc);
    EXPECT_GE(host.pus, 1);
    EXPECT_GE(host.pus, host.cores);
    EXPECT_GE(host.numa_nodes, 1);
    EXPECT_EQ(host.numa_list.size(), static_cast<std::size_t>(host.numa_nodes));
    EXPECT_FALSE(host.numa_list[0].cpuset.empty());
}

/// What hwloc says of a machine that a file describes: the way of live machines.
class HwlocOfAFile : public testing::Test {
protected:
    void SetUp() override {
        // hwloc itself asks more of a file than our reader does.
        std::ofstream(path_) << to_hwloc_xml(read_hwloc_xml(texts::hwloc, "text"));
    }
    void TearDown() override { std::remove(path_.c_str()); }
    const std::string path_ = testing::TempDir() + "baton_hwloc_test_" + std::to_string(getpid()) + ".xml";
    const test::SetVariable hwloc_reads_{"HWLOC_XMLFILE", path_};
};

TEST_F(HwlocOfAFile, KeepsDevicesAndTheirPlaces) {
    const Snapshot live = read_hwloc();
    const Snapshot file = read_hwloc_xml(texts::hwloc, path_);
    EXPECT_TRUE(live.gaps.empty()) << live.gaps[0];
    EXPECT_EQ(live.pci_source, Source::hwloc);
    ASSERT_EQ(live.gpus.size(), 2u);
    EXPECT_EQ(live.gpus[1].uuid.value, file.gpus[1].uuid.value);
    EXPECT_EQ(live.gpus[1].cpuset, (Known<std::string>{"0-3", Source::hwloc}));
    EXPECT_EQ(live.nics[0].name, "mlx5_0");
    EXPECT_EQ(live.nvswitches.size(), 1u);  // which the filter of important objects would drop
    EXPECT_EQ(live.host.numa_list, file.host.numa_list);
}

TEST_F(HwlocOfAFile, GpusWithoutADriverAreNoFailure) {
    const Snapshot snapshot = discover();
    EXPECT_TRUE(snapshot.gpus.empty() || snapshot.gpus[0].cuda_ordinal.known() ||
                snapshot.gpus[0].uuid.source == Source::nvml);
    EXPECT_EQ(snapshot.nics.size(), 1u);
}

TEST(Sysfs, KnowsNodesAsHwlocDoes) {
    for (const NumaNode &node : read_hwloc().host.numa_list) {
        const std::vector<int> processors = sysfs_node_processors(node.os_index);
        const auto usable =
            IndexSet::from_list(node.cpuset)->members();  // hwloc leaves out what this process may not use
        EXPECT_TRUE(std::includes(processors.begin(), processors.end(), usable.begin(), usable.end()));
    }
    EXPECT_TRUE(sysfs_node_processors(-1).empty());
    EXPECT_TRUE(sysfs_node_processors(100000).empty());
}

TEST(Sysfs, MissingDeviceIsUnknown) {
    const PciAddress nowhere{0xfffe, 0xfe, 0x1e};
    EXPECT_EQ(to_string(nowhere), "fffe:fe:1e.0");
    EXPECT_FALSE(sysfs_numa_node(nowhere));
    EXPECT_FALSE(sysfs_is_other_bridge(nowhere));
}

TEST(PciAddressText, IsWhatTheKernelUses) {
    EXPECT_EQ(to_string(PciAddress{0, 0x1b, 0}), "0000:1b:00.0");
    EXPECT_EQ(to_string(PciAddress{0x10008, 1, 0x1f}), "10008:01:1f.0");
    EXPECT_EQ(to_string(PciAddress{0, 3, 0, 1}), "0000:03:00.1");
}

TEST(PciAddressText, IsReadInAllFormsThatAreInUse) {
    EXPECT_EQ(parse_pci_address("00000000:1B:00.0"), (PciAddress{0, 0x1b, 0, 0}));
    EXPECT_EQ(parse_pci_address("10008:01:1f"), (PciAddress{0x10008, 1, 0x1f, 0}));
    EXPECT_EQ(parse_pci_address("0000:03:00.7"), (PciAddress{0, 3, 0, 7}));
    for (const char *text :
         {"", "1b:00.0", "0000:1b:00.8", "0000:1b:20.0", "0000:1b:00.0x", "0000:1b:00.", "0000:1bb:00.0"})
        EXPECT_FALSE(parse_pci_address(text)) << text;
}

TEST(PcieLinks, SpeedAndLanes) {
    EXPECT_EQ(pcie_link_mbps("32.0 GT/s PCIe", 16), 63008);
    EXPECT_EQ(pcie_link_mbps("2.5 GT/s PCIe", 1), 250);
    EXPECT_EQ(pcie_link_mbps("8 GT/s", 16), 15760);
    for (const char *text : {"", "Unknown", "3.0 GT/s", "16"}) EXPECT_FALSE(pcie_link_mbps(text, 16)) << text;
    EXPECT_FALSE(pcie_link_mbps("8.0 GT/s PCIe", 0));
}

}  // namespace
}  // namespace baton::topology
