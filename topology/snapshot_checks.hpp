#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// What makes a snapshot from outside safe to follow: indices that exist, parents before children, sizes that a machine
/// may have. Refuses, naming the field.
void check_snapshot(const Snapshot &snapshot, const std::string &origin);

}  // namespace baton::topology
