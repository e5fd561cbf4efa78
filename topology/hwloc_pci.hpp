#pragma once

#include "topology/snapshot.hpp"
#include "topology/xml_file.hpp"

namespace baton::topology {

/// Whether a link can have this speed. Virtual ports tell 0, or the speed of a single lane.
bool is_plausible_link(bool of_bridge, double mbps);

/// The value of the object's <info> of that name; "" where it has none.
const char *hwloc_info(pugi::xml_node object, const char *name);

/// What hwloc's XML says of one PCI object, a Bridge or a PCIDev; not its place in the tree. Refuses what is no address
/// or no type.
PciNode read_hwloc_pci(const XmlFile &file, pugi::xml_node object, Source source);

}  // namespace baton::topology
