#pragma once

#include "topology/snapshot.hpp"

namespace baton::core {

/// This machine, read once in a process: it stays as it is. Costs some tenths of a second: for rank 0 of a communicator
/// on GPUs.
const topology::Snapshot &machine();

}  // namespace baton::core
