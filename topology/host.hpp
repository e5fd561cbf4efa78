#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/nvml.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// Reads processors, NUMA nodes, PCI trees and NICs through hwloc. The GPUs are those that PCI shows, without NVLinks.
/// What fails becomes a gap.
Snapshot read_hwloc();

/// How often read_hwloc() has run in this process. It is slow: call it once, on one rank of a node.
int hwloc_loads();

/// The processors of a NUMA node, without hwloc; empty where there is no such node.
std::vector<int> sysfs_node_processors(int node);

/// The default of `sysfs` below, which is a parameter so that tests can show another machine.
constexpr const char *this_machine = "/sys";

/// The NUMA node of a PCI device as the kernel tells it; empty for -1 or no answer, as in most virtual machines.
std::optional<int> sysfs_numa_node(const PciAddress &address, const std::string &sysfs = this_machine);

/// Replaces the PCIe speeds that hwloc tells by what the links can do: hwloc tells what they do now, which is less
/// while a GPU sleeps.
void read_link_speeds(Snapshot &machine, const std::string &sysfs = this_machine);

/// Fills in what NVML does not say of the GPUs that it shows: their NUMA nodes, and what is at the far ends of their
/// links.
void read_sysfs(NvmlFacts &nvml, const std::string &sysfs = this_machine);

/// Fills in the NUMA nodes of GPUs and NICs that nobody has told.
void read_numa_nodes(Snapshot &machine, const std::string &sysfs = this_machine);

/// The NVIDIA kernel module's version; empty where it is not loaded.
std::string sysfs_driver_version();

}  // namespace baton::topology
