#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// A few lines for a benchmark's header, each ended by a newline: GPUs, how they are linked, the host, what is unknown.
/// Contains no host name.
std::string summarize(const Snapshot &snapshot);

}  // namespace baton::topology
