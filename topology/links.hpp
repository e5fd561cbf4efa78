#pragma once

#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// "NVSwitch", "NVLink", "PHB", "same device", ...
const char *link_name(LinkKind kind);

/// NVLINK and NVSWITCH: between such GPUs there are NVLinks to count.
bool has_nvlinks(LinkKind kind);

/// The worst link between any two of these GPUs, given by UUID: what all-to-all traffic waits for. SAME_DEVICE where
/// there is one GPU only; NONE where one of them is not in the snapshot.
LinkKind weakest_link(const Snapshot &snapshot, const std::vector<std::string> &uuids);

}  // namespace baton::topology
