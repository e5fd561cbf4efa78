#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// A few lines for a benchmark's header, each ended by a newline: GPUs, how they are linked, the host, what is unknown.
/// Contains no host name.
std::string summarize(const Snapshot &snapshot);

/// "13.0" of 13000, as CUDA numbers its versions.
std::string cuda_version_text(int version);

}  // namespace baton::topology
