#pragma once

#include "topology/snapshot.hpp"

namespace baton::core {

/// Returns this machine, which is read once in a process: it does not change. The first call takes some tenths of a
/// second. Used by rank 0 of communicators on GPUs.
const topology::Snapshot &machine();

}  // namespace baton::core
