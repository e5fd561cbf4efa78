#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// The name of a <userdata> of the machine, hwloc's own place for what is an application's: hwloc passes it over, and
/// lstopo keeps it. It holds the whole Snapshot as JSON.
constexpr const char *facts_userdata = "BatonSnapshot";

/// The machine in hwloc's XML format, version 2: packages, NUMA nodes, cores, the PCI tree, NICs, and where there are
/// NVLinks a distance matrix "NVLinkBandwidth" between the PCI objects of GPUs (MB/s, one direction). lstopo opens and
/// draws it. Caches are not in a Snapshot and so not in the file. Made without hwloc, from the Snapshot alone.
/// Nothing is lost: what hwloc's objects cannot say (dead links, the generation of links, slices of GPUs, P2P, who told
/// what) comes along in facts_userdata, so that read_hwloc_xml() gives the same Snapshot again.
std::string to_hwloc_xml(const Snapshot &snapshot);

}  // namespace baton::topology
