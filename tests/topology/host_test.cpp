#include "topology/host.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/set_variable.hpp"
#include "tests/topology/builders.hpp"
#include "tests/topology/texts.hpp"
#include "topology/classify.hpp"
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
    const std::size_t hidden = host.restriction ? host.restriction->hidden_nodes.size() : 0;
    EXPECT_EQ(host.numa_list.size() + hidden, static_cast<std::size_t>(host.numa_nodes));
    EXPECT_FALSE(host.numa_list[0].cpuset.empty());
}

/// Makes hwloc read a machine from a file. The rest of the way is that of a live machine.
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
        const auto seen = IndexSet::from_list(node.cpuset)->members();
        EXPECT_TRUE(std::includes(processors.begin(), processors.end(), seen.begin(), seen.end()));
    }
    EXPECT_TRUE(sysfs_node_processors(-1).empty());
    EXPECT_TRUE(sysfs_node_processors(100000).empty());
}

TEST(Sysfs, MissingDeviceIsUnknown) {
    const PciAddress nowhere{0xfffe, 0xfe, 0x1e};
    EXPECT_EQ(to_string(nowhere), "fffe:fe:1e.0");
    EXPECT_FALSE(sysfs_numa_node(nowhere));
}

/// A folder of devices as the kernel shows them.
class SysfsOfAFolder : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove_all(sysfs_); }

    void write(const PciAddress &address, const std::string &name, const std::string &text) const {
        const std::string folder = sysfs_ + "/bus/pci/devices/" + to_string(address);
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/" + name) << text << "\n";
    }
    void write_link(const PciAddress &address, const std::string &speed, const std::string &lanes) const {
        write(address, "max_link_speed", speed);
        write(address, "max_link_width", lanes);
    }

    const std::string sysfs_ = testing::TempDir() + "baton_sysfs_test_" + std::to_string(getpid());
};

TEST_F(SysfsOfAFolder, LinksAreWhatTheyCanDo) {
    Snapshot machine;
    const int port = builders::add_pci(machine, PciKind::bridge, -1, 15'754);
    const int device = builders::add_pci(machine, PciKind::gpu, port, 4'000);
    const int other = builders::add_pci(machine, PciKind::nic, -1, 7'877);
    const auto at = [&](int node) -> const PciNode & { return machine.pci[static_cast<std::size_t>(node)]; };
    write_link(*at(port).address, "32.0 GT/s PCIe", "16");
    write_link(*at(device).address, "16.0 GT/s PCIe", "16");
    write_link(*at(other).address, "Unknown", "0");
    read_link_speeds(machine, sysfs_);
    EXPECT_EQ(at(port).mbps, (Known<int>{63'008, Source::sysfs}));
    EXPECT_EQ(at(device).mbps, (Known<int>{31'504, Source::sysfs}));
    EXPECT_EQ(at(other).mbps, (Known<int>{7'877, Source::hwloc}));
}

TEST_F(SysfsOfAFolder, SingleLanesOfPortsAreNotBelieved) {  // virtual ones say so; a device may have no more
    Snapshot machine;
    const int port = builders::add_pci(machine, PciKind::bridge, -1);
    const int seen = builders::add_pci(machine, PciKind::bridge, port, 15'754);
    const int device = builders::add_pci(machine, PciKind::nic, seen);
    for (const PciNode &node : machine.pci) write_link(*node.address, "2.5 GT/s PCIe", "1");
    read_link_speeds(machine, sysfs_);
    const auto mbps = [&](int node) { return machine.pci[static_cast<std::size_t>(node)].mbps; };
    EXPECT_FALSE(mbps(port).known());
    EXPECT_EQ(mbps(seen), (Known<int>{15'754, Source::hwloc}));
    EXPECT_EQ(mbps(device), (Known<int>{250, Source::sysfs}));
}

TEST_F(SysfsOfAFolder, TellsTheNodesThatNobodyElseTells) {
    Snapshot machine = builders::gpus(3);
    machine.gpus[1].numa_node = {7, Source::cuda};
    builders::add_nic(machine, "mlx5_0", -1);
    builders::add_nic(machine, "no address", -1);
    const PciAddress nic{0, 0x80, 0, 0};
    machine.nics[0].pci = {nic, Source::hwloc};
    for (std::size_t gpu = 0; gpu < 2; ++gpu) write(builders::address(gpu), "numa_node", "1");
    write(builders::address(2), "numa_node", "-1");
    write(nic, "numa_node", "3");
    read_numa_nodes(machine, sysfs_);
    EXPECT_EQ(machine.gpus[0].numa_node, (Known<int>{1, Source::sysfs}));
    EXPECT_EQ(machine.gpus[1].numa_node, (Known<int>{7, Source::cuda}));
    EXPECT_FALSE(machine.gpus[2].numa_node.known());
    EXPECT_EQ(machine.nics[0].numa_node, (Known<int>{3, Source::sysfs}));
    EXPECT_FALSE(machine.nics[1].numa_node.known());
}

TEST_F(SysfsOfAFolder, TellsWhatNvmlDoesNot) {
    NvmlFacts nvml;
    nvml.gpus.resize(1);
    nvml.gpus[0].pci = builders::address(0);
    write(builders::address(0), "numa_node", "2");
    const char *classes[] = {"0x068000", "0x068001", "0x068001", "0x030200"};  // NVSwitch, POWER9's NPU twice, GPU
    for (std::size_t index = 0; index < std::size(classes); ++index) {
        NvmlLink &link = nvml.gpus[0].links.emplace_back();
        link.remote = builders::address(8 + index);
        write(*link.remote, "class", classes[index]);
    }
    nvml.gpus[0].links[2].remote_type = RemoteType::unknown;
    nvml.gpus[0].links.emplace_back();  // ends at no address
    read_sysfs(nvml, sysfs_);
    EXPECT_EQ(nvml.gpus[0].numa_node, 2);
    const FarEnd ends[] = {FarEnd::nvswitch, FarEnd::cpu, FarEnd::cpu, FarEnd::unknown, FarEnd::unknown};
    for (std::size_t index = 0; index < std::size(ends); ++index)
        EXPECT_EQ(classify_far_end(nvml.gpus[0].links[index], -1), ends[index]) << index;
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
