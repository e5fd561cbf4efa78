#include "topology/assemble.hpp"

#include <gtest/gtest.h>

#include "tests/topology/machines.hpp"
#include "topology/graph.hpp"

namespace baton::topology {
namespace {

bool any_gap_with(const Snapshot &snapshot, const std::string &text) {
    for (const std::string &gap : snapshot.gaps)
        if (gap.find(text) != std::string::npos) return true;
    return false;
}

TEST(Assemble, EightH200WithHiddenSwitches) {
    NvmlFacts nvml = machines::h200_hidden_switches();
    Snapshot snapshot = assemble(nvml, machines::cuda_for(nvml, true));
    ASSERT_EQ(snapshot.gpus.size(), 8u);
    ASSERT_EQ(snapshot.pairs.size(), 64u);
    const Graph graph = make_graph(snapshot);
    for (std::size_t from = 0; from < 8; ++from) {
        EXPECT_EQ(snapshot.gpus[from].cuda_ordinal.value, static_cast<int>(from));
        for (std::size_t to = 0; to < 8; ++to) {
            const Pair &pair = graph.pair(from, to);
            EXPECT_EQ(pair.kind.value, from == to ? LinkKind::SELF : LinkKind::NVSWITCH);
            if (from == to) continue;
            EXPECT_EQ(pair.links, 18);
            EXPECT_EQ(pair.nominal_mbps, (Known<int>{450000, Source::table}));
            EXPECT_EQ(pair.p2p_write, (Known<bool>{true, Source::nvml}));
        }
    }
    EXPECT_TRUE(snapshot.gaps.empty());
}

TEST(Assemble, VersionWithoutTableEntryTakesNvmlsSpeed) {
    NvmlFacts nvml = machines::h200_hidden_switches(2);
    for (NvmlGpu &gpu : nvml.gpus)
        for (NvmlLink &link : gpu.links) link.version = 0;
    Snapshot snapshot = assemble(nvml, {});
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).nominal_mbps, (Known<int>{18 * 26562, Source::nvml}));
}

TEST(Assemble, DeadLinkIsCountedOutAndNamed) {
    NvmlFacts nvml = machines::h200_hidden_switches(3);
    nvml.gpus[1].links[7].active = false;
    Snapshot snapshot = assemble(nvml, {});
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).links, 17);
    EXPECT_EQ(make_graph(snapshot).pair(1, 0).links, 17);
    EXPECT_EQ(make_graph(snapshot).pair(0, 2).links, 18);
    EXPECT_TRUE(any_gap_with(snapshot, "17 of the 18 NVLinks of GPU 1"));
}

TEST(Assemble, LinksThatAreAllDownBesideOthersThatAreUpAreNamed) {
    NvmlFacts nvml = machines::h200_hidden_switches(3);
    for (NvmlLink &link : nvml.gpus[1].links) link.active = false;
    const Snapshot snapshot = assemble(nvml, {});
    EXPECT_TRUE(any_gap_with(snapshot, "none of the 18 NVLinks of GPU 1 is up"));
}

TEST(Assemble, LinksThatAreAllDownAreNoFault) {  // a PCIe board whose bridge is not fitted
    NvmlFacts nvml = machines::two_pcie(P2pStatus::ok);
    for (NvmlGpu &gpu : nvml.gpus) gpu.links.resize(12);
    Snapshot snapshot = assemble(nvml, machines::cuda_for(nvml, true));
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::PHB);
    EXPECT_TRUE(snapshot.gaps.empty());
    NvmlFacts mixed = machines::h200_hidden_switches(2);
    mixed.gpus[1].name = "NVIDIA A100 80GB PCIe";
    for (NvmlLink &link : mixed.gpus[1].links) link.active = false;
    EXPECT_TRUE(assemble(mixed, {}).gaps.empty())
        << "links of another kind of board are no sign that these should be up";
}

TEST(Assemble, FabricThatIsDownShowsOnce) {
    NvmlFacts nvml = machines::h200_hidden_switches(4);
    for (NvmlPair &pair : nvml.pairs) pair.nvlink = P2pStatus::not_supported;
    Snapshot snapshot = assemble(nvml, {});
    EXPECT_EQ(make_graph(snapshot).pair(0, 3).kind.value, LinkKind::SYS);
    EXPECT_EQ(snapshot.gaps.size(), 1u);
    EXPECT_TRUE(any_gap_with(snapshot, "fabric manager"));
}

TEST(Assemble, BridgesJoinOnlyTheirPair) {
    NvmlFacts nvml = machines::two_bridges();
    Snapshot snapshot = assemble(nvml, {});
    EXPECT_EQ(snapshot.gpus[2].nvlinks[0].peer_gpu, 3);
    EXPECT_EQ(make_graph(snapshot).pair(2, 3).kind.value, LinkKind::NVLINK);
    EXPECT_EQ(make_graph(snapshot).pair(2, 3).nominal_mbps.value, 300000);
    EXPECT_EQ(make_graph(snapshot).pair(1, 2).kind.value, LinkKind::SYS);
    EXPECT_TRUE(snapshot.gaps.empty());
}

TEST(Assemble, CudaOrdinalsAreMatchedByPciAddress) {
    NvmlFacts nvml = machines::h200_hidden_switches(4);
    CudaFacts cuda;  // CUDA_VISIBLE_DEVICES=3,1
    cuda.devices = {{0, "NVIDIA H200", nvml.gpus[3].uuid, nvml.gpus[3].pci, {}},
                    {1, "NVIDIA H200", nvml.gpus[1].uuid, nvml.gpus[1].pci, {}}};
    cuda.pairs = {{}, {true, true}, {false, false}, {}};
    Snapshot snapshot = assemble(nvml, cuda);
    EXPECT_FALSE(snapshot.gpus[0].cuda_ordinal.known());
    EXPECT_EQ(snapshot.gpus[1].cuda_ordinal.value, 1);
    EXPECT_EQ(snapshot.gpus[3].cuda_ordinal.value, 0);
    EXPECT_EQ(snapshot.pair(3, 1).p2p_read, (Known<bool>{true, Source::nvml}));
    EXPECT_EQ(snapshot.pair(1, 3).p2p_read, (Known<bool>{false, Source::cuda}));
    EXPECT_EQ(snapshot.pair(0, 1).p2p_read, (Known<bool>{true, Source::nvml}));
}

TEST(Assemble, WithoutNvmlCudaStillGivesGpusAndAccess) {
    NvmlFacts seen = machines::two_pcie(P2pStatus::ok);
    CudaFacts cuda = machines::cuda_for(seen, true);
    cuda.devices[0].host_numa = 0;
    cuda.devices[1].host_numa = 1;
    Snapshot snapshot = assemble(machines::no_nvml(), cuda);
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    EXPECT_EQ(snapshot.gpus[1].name, "NVIDIA L4");
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind, (Known<LinkKind>{LinkKind::SYS, Source::cuda}));
    EXPECT_EQ(snapshot.pair(0, 1).p2p_read, (Known<bool>{true, Source::cuda}));
    EXPECT_TRUE(any_gap_with(snapshot, "NVML not found"));
}

TEST(Assemble, SlicesOfOneGpuAreOneDevice) {
    NvmlFacts nvml;
    nvml.gpus = {machines::gpu(0, "NVIDIA H200")};
    nvml.gpus[0].mig = true;
    machines::add_pairs(nvml, {});
    CudaFacts cuda;
    cuda.devices = {{0, "slice", "GPU-aaaa", machines::slot(0), {}}, {1, "slice", "GPU-bbbb", machines::slot(0), {}}};
    cuda.pairs.resize(4);
    Snapshot snapshot = assemble(nvml, cuda);
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    EXPECT_EQ(snapshot.gpus[0].uuid, (Known<std::string>{"MIG-aaaa", Source::cuda}));
    EXPECT_EQ(snapshot.gpus[1].uuid.value, "MIG-bbbb");
    EXPECT_EQ(find_gpu(snapshot, "GPU-aaaa"), 0);
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind.value, LinkKind::SAME_DEVICE);
}

TEST(Assemble, DeviceWithoutPropertiesIsKept) {
    CudaFacts cuda;
    cuda.devices.resize(2);
    cuda.devices[1].ordinal = 1;
    cuda.pairs.resize(4);
    Snapshot snapshot = assemble(machines::no_nvml(), cuda);
    ASSERT_EQ(snapshot.gpus.size(), 2u);
    EXPECT_FALSE(snapshot.gpus[1].pci.known());
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind, (Known<LinkKind>{LinkKind::NONE, Source::none}));
}

/// What hwloc says of a machine whose GPUs are NVML's first `gpus`, each below its own host bridge.
Snapshot on_pci(std::size_t gpus) {
    Snapshot machine;
    machine.host.numa_list = {{0, "0-3", 0}, {1, "4-7", 0}};
    machine.pci_source = Source::hwloc;
    for (std::size_t index = 0; index < gpus; ++index) {
        const int node = static_cast<int>(index % 2);
        PciNode host, device;
        host.kind = PciKind::host_bridge;
        host.numa_nodes = {node};
        device.kind = PciKind::gpu;
        device.parent = static_cast<int>(machine.pci.size());
        device.address = machines::slot(static_cast<int>(index));
        machine.pci.push_back(host);
        machine.pci.push_back(device);
        Gpu &gpu = machine.gpus.emplace_back();
        gpu.pci = {*device.address, Source::hwloc};
        gpu.pci_node = device.parent + 1;
        gpu.numa_node = {node, Source::hwloc};
        gpu.cpuset = {node == 0 ? "0-3" : "4-7", Source::hwloc};
    }
    machine.pairs.resize(gpus * gpus);
    return machine;
}

TEST(Assemble, GpusFindTheirPlaceInThePciTrees) {
    NvmlFacts nvml = machines::two_pcie(P2pStatus::ok);
    nvml.pairs.clear();
    const Snapshot snapshot = assemble(nvml, {}, on_pci(3));
    ASSERT_EQ(snapshot.gpus.size(), 2u);  // the third one is not given to this container
    EXPECT_EQ(snapshot.gpus[1].pci_node, 3);
    EXPECT_EQ(snapshot.gpus[1].numa_node, (Known<int>{1, Source::sysfs}));
    EXPECT_EQ(snapshot.gpus[1].cpuset, (Known<std::string>{"4-7", Source::hwloc}));
    EXPECT_EQ(make_graph(snapshot).pair(0, 1).kind, (Known<LinkKind>{LinkKind::SYS, Source::hwloc}));
    EXPECT_TRUE(snapshot.gaps.empty());
}

TEST(Assemble, ProcessorsOfTheNumaNodeWherePciTellsNone) {
    NvmlFacts nvml = machines::two_pcie(P2pStatus::ok);
    const Snapshot snapshot = assemble(nvml, {}, on_pci(0));
    EXPECT_EQ(snapshot.gpus[1].pci_node, -1);
    EXPECT_EQ(snapshot.gpus[1].cpuset, (Known<std::string>{"4-7", Source::sysfs}));
}

TEST(Assemble, GpusOnPciWithoutADriverAreAGap) {
    const Snapshot snapshot = assemble(machines::no_nvml(), {}, on_pci(2));
    EXPECT_TRUE(snapshot.gpus.empty());
    EXPECT_TRUE(snapshot.pairs.empty());
    EXPECT_TRUE(any_gap_with(snapshot, "2 NVIDIA GPUs on PCI that neither NVML nor CUDA shows"));
}

TEST(Assemble, SwitchesThatNvmlNamesAreOneEach) {
    NvmlFacts nvml = machines::h200_hidden_switches(2);
    for (NvmlGpu &gpu : nvml.gpus)
        for (NvmlLink &link : gpu.links) {
            link.remote_hidden = false;
            link.remote_type = RemoteType::nvswitch;
            link.remote = PciAddress{0, static_cast<std::uint32_t>(0xc0 + link.index % 4), 0, 0};
        }
    Snapshot machine = on_pci(2);
    machine.nvswitches.push_back({{PciAddress{0, 0xc2, 0, 0}, Source::hwloc}, 7});
    const Snapshot snapshot = assemble(nvml, {}, machine);
    EXPECT_EQ(snapshot.nvswitches.size(), 4u);
    EXPECT_EQ(snapshot.gpus[1].nvlinks[2].peer_switch, 0);
    EXPECT_FALSE(make_graph(snapshot).pair(0, 1).switch_hidden);
}

TEST(Assemble, AnswersThatAreYoungerThanOurListsAreUnknown) {
    NvmlFacts nvml = machines::two_pcie(P2pStatus::ok);
    for (NvmlPair &pair : nvml.pairs) {
        pair.ancestor = static_cast<CommonAncestor>(77);
        pair.nvlink = static_cast<P2pStatus>(99);
    }
    const Snapshot snapshot = assemble(nvml, {});
    EXPECT_FALSE(snapshot.pair(0, 1).ancestor.known());
    EXPECT_EQ(snapshot.pair(0, 1).nvlink.value, P2pStatus::unknown);
}

TEST(FindGpu, ByIndexUuidAndAddress) {
    NvmlFacts nvml = machines::h200_hidden_switches(3);
    const Snapshot snapshot = assemble(nvml, {});
    EXPECT_EQ(find_gpu(snapshot, "2"), 2);
    EXPECT_EQ(find_gpu(snapshot, "00000000:20:00.0"), 1);
    EXPECT_EQ(find_gpu(snapshot, nvml.gpus[1].uuid), 1);
    EXPECT_EQ(find_gpu(snapshot, "MIG" + nvml.gpus[1].uuid.substr(3)), 1);
    for (const char *name : {"3", "", "-1", "GPU-", "0000:21:00.0", "2x"})
        EXPECT_EQ(find_gpu(snapshot, name), -1) << name;
}

TEST(Assemble, NothingAtAll) {
    Snapshot snapshot = assemble(machines::no_nvml(), {});
    EXPECT_TRUE(snapshot.gpus.empty());
    EXPECT_TRUE(snapshot.pairs.empty());
    EXPECT_EQ(snapshot.gaps.size(), 1u);
}

}  // namespace
}  // namespace baton::topology
