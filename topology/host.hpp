#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/nvml.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// Processors, NUMA nodes, PCI trees and NICs by hwloc; the GPUs in it are what PCI shows, without NVLinks. What fails
/// becomes a gap.
Snapshot read_hwloc();

/// How often read_hwloc() has run in this process: it is slow, so it should be once on one rank of a node.
int hwloc_loads();

/// The processors of a NUMA node, without hwloc; empty where there is no such node.
std::vector<int> sysfs_node_processors(int node);

/// What follows reads below `sysfs`, so that tests can show another machine.
constexpr const char *this_machine = "/sys";

/// The kernel's view of a PCI device; empty where it says -1 or nothing, as in most virtual machines.
std::optional<int> sysfs_numa_node(const PciAddress &address, const std::string &sysfs = this_machine);

/// Puts what the links can do in the place of what hwloc tells, what they do now: that is less while a GPU sleeps.
void read_link_speeds(Snapshot &machine, const std::string &sysfs = this_machine);

/// Of the GPUs that NVML shows: their NUMA nodes, and what is at the far ends of their links where NVML does not say.
void read_sysfs(NvmlFacts &nvml, const std::string &sysfs = this_machine);

/// The NUMA nodes of GPUs and NICs that nobody has told.
void read_numa_nodes(Snapshot &machine, const std::string &sysfs = this_machine);

/// The NVIDIA kernel module's version; empty where it is not loaded.
std::string sysfs_driver_version();

}  // namespace baton::topology
