#pragma once

#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// A few lines for a benchmark's header, each ended by a newline: GPUs, how they are linked, the host, what is unknown.
/// Contains no host name.
std::string summarize(const Snapshot &snapshot);

/// summarize(discover()); costs what discover() costs, so only the rank that prints it should call it.
std::string machine_summary();

}  // namespace baton::topology
