#pragma once

#include <string>

#include "topology/tool/machine.hpp"

namespace baton::topology {

/// The advice, for programs: every pair of GPUs, the ring and the islands, and with several ranks those of the ranks.
/// The facts themselves are in snapshot_to_json(). What nobody knows is null.
std::string advice_to_json(const Machine &machine);

}  // namespace baton::topology
