#pragma once

#include "topology/snapshot.hpp"
#include "topology/xml_file.hpp"

namespace baton::topology {

/// The value of the object's <info> of that name; "" where it has none.
const char *hwloc_info(pugi::xml_node object, const char *name);

/// What hwloc's XML says of one PCI object, a Bridge or a PCIDev; not its place in the tree. Refuses what is no address
/// or no type.
PciNode read_hwloc_pci(const XmlFile &file, pugi::xml_node object, Source source);

}  // namespace baton::topology
