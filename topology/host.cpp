#include "topology/host.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "topology/hwloc_pci.hpp"
#include "topology/index_set.hpp"
#include "topology/pci_ids.hpp"
#include "topology/readers.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

struct DestroyTopology {
    void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
};
using TopologyPtr = std::unique_ptr<hwloc_topology, DestroyTopology>;

std::atomic<int> loads{0};

/// hwloc's whole view in its XML format, so that live machines and files go through the same reader.
std::string export_xml(hwloc_topology *topology) {
    char *buffer = nullptr;
    int length = 0;
    if (hwloc_topology_export_xmlbuffer(topology, &buffer, &length, 0) != 0) return {};
    std::string text(buffer, std::strlen(buffer));
    hwloc_free_xmlbuffer(topology, buffer);
    return text;
}

std::string first_line(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string device_folder(const std::string &sysfs, const PciAddress &address) {
    return sysfs + "/bus/pci/devices/" + to_string(address);
}

std::optional<int> fastest_link_mbps(const std::string &sysfs, const PciAddress &address) {
    const std::string folder = device_folder(sysfs, address), lanes = first_line(folder + "/max_link_width");
    return pcie_link_mbps(first_line(folder + "/max_link_speed"), std::atoi(lanes.c_str()));
}

/// The PCI class with the programming interface: 0x068000. 0 where there is no such device.
std::uint32_t whole_class(const std::string &sysfs, const PciAddress &address) {
    const std::string text = first_line(device_folder(sysfs, address) + "/class");
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 16));
}

}  // namespace

int hwloc_loads() { return loads.load(); }

Snapshot read_hwloc() {
    ++loads;
    Snapshot nothing;
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) {
        nothing.gaps.emplace_back("hwloc does not start: cores, NUMA nodes and PCI are unknown");
        return nothing;
    }
    TopologyPtr topology(raw);
    // These components would touch the GPU driver or an X server in every process that asks for the number of cores,
    // and are known to crash or hang there. An unknown name is refused, which is as good.
    for (const char *component : {"opencl", "gl", "cuda", "nvml", "rsmi", "levelzero"})
        hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
    // A filter for important objects only would drop the NVSwitches.
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    const std::string text = hwloc_topology_load(raw) == 0 ? export_xml(raw) : std::string();
    if (text.empty()) {
        nothing.gaps.emplace_back("hwloc cannot read this machine: cores, NUMA nodes and PCI are unknown");
        return nothing;
    }
    try {
        Snapshot machine = read_hwloc_xml(text, "hwloc", Source::hwloc);
        if (!hwloc_topology_is_thissystem(raw)) return machine;
        read_link_speeds(machine);
        return machine;
    } catch (const core::Failure &failure) {
        nothing.gaps.push_back(fmt::format("what hwloc says of this machine cannot be read: {}", failure.what()));
        return nothing;
    }
}

std::vector<int> sysfs_node_processors(int node) {
    const auto set = IndexSet::from_list(first_line(fmt::format("/sys/devices/system/node/node{}/cpulist", node)));
    return set ? set->members() : std::vector<int>();
}

std::optional<int> sysfs_numa_node(const PciAddress &address, const std::string &sysfs) {
    std::ifstream file(device_folder(sysfs, address) + "/numa_node");
    int node = -1;
    if (!(file >> node) || node < 0) return std::nullopt;
    return node;
}

void read_link_speeds(Snapshot &machine, const std::string &sysfs) {
    for (PciNode &node : machine.pci) {
        const auto most = node.address ? fastest_link_mbps(sysfs, *node.address) : std::nullopt;
        if (most && is_plausible_link(node.kind == PciKind::bridge, *most)) node.mbps = {*most, Source::sysfs};
    }
}

void read_sysfs(NvmlFacts &nvml, const std::string &sysfs) {
    for (NvmlGpu &gpu : nvml.gpus) {
        if (gpu.pci) gpu.numa_node = sysfs_numa_node(*gpu.pci, sysfs);
        for (NvmlLink &link : gpu.links) {
            if (!link.remote) continue;
            const std::uint32_t remote_class = whole_class(sysfs, *link.remote);
            link.remote_is_bridge = remote_class >> 8 == class_other_bridge && remote_class != whole_class_npu;
            if (remote_class == whole_class_npu &&
                link.remote_type.value_or(RemoteType::unknown) == RemoteType::unknown)
                link.remote_type = RemoteType::ibm_npu;
        }
    }
}

void read_numa_nodes(Snapshot &machine, const std::string &sysfs) {
    const auto ask = [&](auto &device) {
        if (device.numa_node.known() || !device.pci.known()) return;
        if (const auto node = sysfs_numa_node(device.pci.value, sysfs)) device.numa_node = {*node, Source::sysfs};
    };
    for (Gpu &gpu : machine.gpus) ask(gpu);
    for (Nic &nic : machine.nics) ask(nic);
}

std::string sysfs_driver_version() { return first_line("/sys/module/nvidia/version"); }

}  // namespace baton::topology
