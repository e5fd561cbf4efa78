#include "topology/host.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

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

/// hwloc's whole view in its XML format, so that live machines and files take the same way.
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

std::string device_folder(const PciAddress &address) { return "/sys/bus/pci/devices/" + to_string(address); }

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
    // The filter of important objects only would drop the NVSwitches.
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
        for (PciNode &node : machine.pci)
            if (const auto most = node.address ? sysfs_max_link_mbps(*node.address) : std::nullopt)
                node.mbps = {*most, Source::sysfs};
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

std::optional<int> sysfs_numa_node(const PciAddress &address) {
    std::ifstream file(device_folder(address) + "/numa_node");
    int node = -1;
    if (!(file >> node) || node < 0) return std::nullopt;
    return node;
}

std::optional<int> sysfs_max_link_mbps(const PciAddress &address) {
    const std::string lanes = first_line(device_folder(address) + "/max_link_width");
    return pcie_link_mbps(first_line(device_folder(address) + "/max_link_speed"), std::atoi(lanes.c_str()));
}

bool sysfs_is_other_bridge(const PciAddress &address) {
    return first_line(device_folder(address) + "/class").starts_with("0x0680");
}

std::string sysfs_driver_version() { return first_line("/sys/module/nvidia/version"); }

}  // namespace baton::topology
