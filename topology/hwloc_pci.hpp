#pragma once

#include "topology/snapshot.hpp"
#include "topology/xml_file.hpp"

namespace baton::topology {

/// Whether a link can have this speed. Virtual ports tell 0, or the speed of a single lane.
bool is_plausible_link(bool of_bridge, double mbps);

/// The value of the object's <info> of that name; "" where it has none.
const char *hwloc_info(pugi::xml_node object, const char *name);

/// Reads one PCI object of hwloc's XML, a Bridge or a PCIDev, without its place in the tree. Refuses a malformed
/// address or type.
PciNode read_hwloc_pci(const XmlFile &file, pugi::xml_node object, Source source);

}  // namespace baton::topology
