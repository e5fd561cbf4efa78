#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// Processors, cores and NUMA nodes by hwloc. What fails is added to `gaps`.
Host read_host(std::vector<std::string> &gaps);

/// The kernel's view of a PCI device; empty where it says -1 or nothing, as in most virtual machines.
std::optional<int> sysfs_numa_node(const PciAddress &address);

/// Whether the device's PCI class is 0680 ("other bridge"), as NVSwitches have.
bool sysfs_is_other_bridge(const PciAddress &address);

/// The NVIDIA kernel module's version; empty where it is not loaded.
std::string sysfs_driver_version();

}  // namespace baton::topology
