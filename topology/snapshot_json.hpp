#pragma once

#include <string>
#include <string_view>

#include "topology/snapshot.hpp"

/// A snapshot as JSON text: what `baton_topo --json` writes, and what to_hwloc_xml() stores beside hwloc's objects.
namespace baton::topology {

/// Loses nothing that can be printed: snapshot_from_json(snapshot_to_json(s)) == s. ASCII; `indent` < 0: on one line.
std::string snapshot_to_json(const Snapshot &snapshot, int indent = -1);

/// Refuses as readers.hpp says, naming the field.
Snapshot snapshot_from_json(std::string_view text, const std::string &origin);

}  // namespace baton::topology
