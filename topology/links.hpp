#pragma once

#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// "NVSwitch", "NVLink", "PHB", "same device", ...
const char *link_name(LinkKind kind);

/// Whether the kind has NVLinks to count: NVLINK and NVSWITCH.
bool has_nvlinks(LinkKind kind);

/// The worst link between any two of these GPUs, given by UUID: all-to-all traffic waits for it. SAME_DEVICE if there
/// is only one GPU; NONE if one of them is not in the snapshot.
LinkKind weakest_link(const Snapshot &snapshot, const std::vector<std::string> &uuids);

}  // namespace baton::topology
