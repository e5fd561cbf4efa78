#include "topology/host.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace baton::topology {
namespace {

struct DestroyTopology {
    void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
};
using TopologyPtr = std::unique_ptr<hwloc_topology, DestroyTopology>;

std::string cpu_model(hwloc_topology *topology) {
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    for (hwloc_obj_t object : {package, hwloc_get_root_obj(topology)}) {
        const char *model = object ? hwloc_obj_get_info_by_name(object, "CPUModel") : nullptr;
        if (model && *model) return model;
    }
    return {};
}

std::string first_line(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string device_folder(const PciAddress &address) { return "/sys/bus/pci/devices/" + to_string(address); }

}  // namespace

Host read_host(std::vector<std::string> &gaps) {
    Host host;
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) {
        gaps.emplace_back("hwloc does not start: cores and NUMA nodes are unknown");
        return host;
    }
    TopologyPtr topology(raw);
    // These components would touch the GPU driver or an X server in every process that asks for the number of cores,
    // and are known to crash or hang there. An unknown name is refused, which is as good.
    for (const char *component : {"opencl", "gl", "cuda", "nvml", "rsmi", "levelzero"})
        hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
    if (hwloc_topology_load(raw) != 0) {
        gaps.emplace_back("hwloc cannot read this machine: cores and NUMA nodes are unknown");
        return host;
    }
    auto count = [raw](hwloc_obj_type_t type) { return std::max(0, hwloc_get_nbobjs_by_type(raw, type)); };
    host.packages = count(HWLOC_OBJ_PACKAGE);
    host.numa_nodes = count(HWLOC_OBJ_NUMANODE);
    host.cores = count(HWLOC_OBJ_CORE);
    host.pus = count(HWLOC_OBJ_PU);
    host.cpu_model = cpu_model(raw);
    host.source = Source::hwloc;
    return host;
}

std::optional<int> sysfs_numa_node(const PciAddress &address) {
    std::ifstream file(device_folder(address) + "/numa_node");
    int node = -1;
    if (!(file >> node) || node < 0) return std::nullopt;
    return node;
}

bool sysfs_is_other_bridge(const PciAddress &address) {
    return first_line(device_folder(address) + "/class").starts_with("0x0680");
}

std::string sysfs_driver_version() { return first_line("/sys/module/nvidia/version"); }

}  // namespace baton::topology
