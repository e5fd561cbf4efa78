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
    IndexSet pus;                         ///< also those that this process may not use
    std::vector<NumaNode> memory;         ///< that hangs here, hidden nodes too
    std::vector<ProcessorPart> children;  ///< disjoint, ordered by lowest processing unit
};

/// A strict tree that covers all processing units that the snapshot mentions. NUMA nodes across packages hang at the
/// machine; nodes and cores that fit nowhere are left out. Packages that overlap, do not cover everything or are
/// unknown are replaced by a single one, and unknown nodes likewise.
ProcessorPart processor_tree(const Snapshot &snapshot);

/// Those of `pus` that this process may use.
IndexSet usable_of(const Snapshot &snapshot, const IndexSet &pus);

/// Whether this process may not use the node, so that hwloc has no object for it.
bool is_hidden(const Snapshot &snapshot, int numa_node);

/// The NUMA nodes of a part and of all below it.
IndexSet numa_nodes_of(const ProcessorPart &part);

}  // namespace baton::topology
