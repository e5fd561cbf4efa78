#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// Name of the machine's <userdata> that holds the whole Snapshot as JSON. <userdata> is hwloc's own place for an
/// application's data: hwloc passes it over, and lstopo keeps it.
constexpr const char *facts_userdata = "BatonSnapshot";

/// The machine in hwloc's XML format, version 2, which lstopo opens and draws. Made from the Snapshot alone, without
/// hwloc.
/// - Objects: packages, NUMA nodes, cores, the PCI tree, NICs. Caches are not in a Snapshot and so not in the file.
/// - Where there are NVLinks: a distance matrix "NVLinkBandwidth" between the PCI objects of GPUs and of visible
///   NVSwitches (MB/s, one direction).
/// - What these cannot say (dead links, the generation of links, slices of GPUs, P2P, who told what) is in
///   facts_userdata, so that read_hwloc_xml() gives the same Snapshot again: nothing is lost.
std::string to_hwloc_xml(const Snapshot &snapshot);

}  // namespace baton::topology
