#include "topology/discover.hpp"

#include "topology/assemble.hpp"
#include "topology/host.hpp"
#include "util/log.hpp"
#include "util/phases.hpp"

namespace baton::topology {

Snapshot discover() {
    core::Phases phases;
    phases.begin("NVML");
    NvmlFacts nvml = read_nvml();
    for (NvmlGpu &gpu : nvml.gpus) {
        if (gpu.pci) gpu.numa_node = sysfs_numa_node(*gpu.pci);
        for (NvmlLink &link : gpu.links)
            if (link.remote) link.remote_is_bridge = sysfs_is_other_bridge(*link.remote);
    }
    phases.begin("CUDA");
    const CudaFacts cuda = read_cuda();
    phases.begin("hwloc");
    Snapshot snapshot = assemble(nvml, cuda, read_hwloc());
    phases.end();
    for (Gpu &gpu : snapshot.gpus) {  // GPUs that NVML did not show
        if (gpu.numa_node.known() || !gpu.pci.known()) continue;
        if (auto node = sysfs_numa_node(gpu.pci.value)) gpu.numa_node = {*node, Source::sysfs};
    }
    if (!snapshot.driver.known())
        if (std::string version = sysfs_driver_version(); !version.empty()) snapshot.driver = {version, Source::sysfs};
    core::log(core::LogLevel::debug, -1, "read the machine in {}", phases.text());
    return snapshot;
}

}  // namespace baton::topology
