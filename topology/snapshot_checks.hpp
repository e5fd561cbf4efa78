#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// Checks that a snapshot from outside is safe to follow: indices exist, parents come before children, sizes are those
/// that a machine may have. Refuses it otherwise, naming the field.
void check_snapshot(const Snapshot &snapshot, const std::string &origin);

}  // namespace baton::topology
