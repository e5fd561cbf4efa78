#pragma once

#include "topology/snapshot.hpp"

namespace baton::topology {

/// Expects what holds on every machine, whoever described it: symmetry, a place for every GPU, rings that are rings,
/// nothing lost on the way through JSON and hwloc's XML. Failures are the running test's.
void check_invariants(const Snapshot &snapshot);

}  // namespace baton::topology
