#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// A few lines for a benchmark's header, each ended by a newline: GPUs, how they are linked, the host, what is unknown.
/// Contains no host name.
std::string summarize(const Snapshot &snapshot);

/// "; driver 580.159.04 (CUDA 13.0)"; empty if neither is known.
std::string driver_text(const Snapshot &snapshot);

}  // namespace baton::topology
