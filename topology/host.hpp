#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// Processors, NUMA nodes, PCI trees and NICs by hwloc; the GPUs in it are what PCI shows, without NVLinks. What fails
/// becomes a gap.
Snapshot read_hwloc();

/// How often read_hwloc() has run in this process: it is slow, so it should be once on one rank of a node.
int hwloc_loads();

/// The processors of a NUMA node, without hwloc; empty where there is no such node.
std::vector<int> sysfs_node_processors(int node);

/// The kernel's view of a PCI device; empty where it says -1 or nothing, as in most virtual machines.
std::optional<int> sysfs_numa_node(const PciAddress &address);

/// What the link above the device can do, in MB/s: hwloc tells what it does now, which is less while a GPU sleeps.
std::optional<int> sysfs_max_link_mbps(const PciAddress &address);

/// Whether the device's PCI class is 0680 ("other bridge"), as NVSwitches have.
bool sysfs_is_other_bridge(const PciAddress &address);

/// The NVIDIA kernel module's version; empty where it is not loaded.
std::string sysfs_driver_version();

}  // namespace baton::topology
