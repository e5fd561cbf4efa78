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
    IndexSet pus;
    std::vector<NumaNode> memory;         ///< that hangs here
    std::vector<ProcessorPart> children;  ///< disjoint, by their lowest processing units
};

/// A strict tree that covers all processing units that the snapshot mentions. What does not fit into one (packages that
/// overlap, nodes across packages) is left out, and what is not known is made the simplest thing: one package, one
/// node.
ProcessorPart processor_tree(const Snapshot &snapshot);

/// The NUMA nodes of a part and of all below it.
IndexSet numa_nodes_of(const ProcessorPart &part);

}  // namespace baton::topology
