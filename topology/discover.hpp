#pragma once

#include "topology/snapshot.hpp"

namespace baton::topology {

/// Asks hwloc, NVML, CUDA and sysfs about this machine. What is missing becomes a line in Snapshot::gaps; nothing
/// throws because of it. Costs up to some tenths of a second: call it on one rank per node.
Snapshot discover();

}  // namespace baton::topology
