#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// The machine in hwloc's XML format, version 2: packages, NUMA nodes, cores, the PCI tree, NICs, and where there are
/// NVLinks a distance matrix "NVLinkBandwidth" between the PCI objects of GPUs (MB/s, one direction). lstopo opens and
/// draws it. Caches are not in a Snapshot and so not in the file. Made without hwloc, from the Snapshot alone.
std::string to_hwloc_xml(const Snapshot &snapshot);

}  // namespace baton::topology
