#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/index_set.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// A part of a machine's processors: the machine, its packages, NUMA nodes within them, cores, processing units.
struct ProcessorPart {
    std::string type;  ///< as hwloc calls it: "Machine", "Package", "Group", "Core", "PU"
    int os_index = -1;
    IndexSet pus;                         ///< with those that this process may not use
    std::vector<NumaNode> memory;         ///< that hangs here, hidden nodes too
    std::vector<ProcessorPart> children;  ///< disjoint, by their lowest processing units
};

/// A strict tree that covers all processing units that the snapshot mentions. What does not fit into one (packages that
/// overlap, nodes across packages) is left out, and what is not known is made the simplest thing: one package, one
/// node.
ProcessorPart processor_tree(const Snapshot &snapshot);

/// Of these processing units those that this process may use.
IndexSet usable_of(const Snapshot &snapshot, const IndexSet &pus);

/// Whether this process may not use that node, so that it is no object of hwloc's.
bool is_hidden(const Snapshot &snapshot, int numa_node);

/// The NUMA nodes of a part and of all below it.
IndexSet numa_nodes_of(const ProcessorPart &part);

}  // namespace baton::topology
