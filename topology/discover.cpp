#include "topology/discover.hpp"

#include "topology/assemble.hpp"
#include "topology/host.hpp"

namespace baton::topology {

Snapshot discover() {
    NvmlFacts nvml = read_nvml();
    for (NvmlGpu &gpu : nvml.gpus) {
        if (gpu.pci) gpu.numa_node = sysfs_numa_node(*gpu.pci);
        for (NvmlLink &link : gpu.links)
            if (link.remote) link.remote_is_bridge = sysfs_is_other_bridge(*link.remote);
    }
    Snapshot snapshot = assemble(nvml, read_cuda(), read_hwloc());
    for (Gpu &gpu : snapshot.gpus) {  // GPUs that NVML did not show
        if (gpu.numa_node.known() || !gpu.pci.known()) continue;
        if (auto node = sysfs_numa_node(gpu.pci.value)) gpu.numa_node = {*node, Source::sysfs};
    }
    if (!snapshot.driver.known())
        if (std::string version = sysfs_driver_version(); !version.empty()) snapshot.driver = {version, Source::sysfs};
    return snapshot;
}

}  // namespace baton::topology
