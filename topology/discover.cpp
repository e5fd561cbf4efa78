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
    read_sysfs(nvml);
    phases.begin("CUDA");
    const CudaFacts cuda = read_cuda();
    phases.begin("hwloc");
    Snapshot snapshot = assemble(nvml, cuda, read_hwloc());
    phases.end();
    read_numa_nodes(snapshot);
    if (!snapshot.driver.known())
        if (std::string version = sysfs_driver_version(); !version.empty()) snapshot.driver = {version, Source::sysfs};
    core::log(core::LogLevel::debug, -1, "read the machine in {}", phases.text());
    return snapshot;
}

}  // namespace baton::topology
