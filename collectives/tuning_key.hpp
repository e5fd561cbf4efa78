#pragma once

#include <string>
#include <vector>

#include "collectives/tuning.hpp"
#include "topology/snapshot.hpp"

namespace baton::core {

/// Of ranks on these GPUs, one name and UUID per rank, that reach each other's memory.
TuningKey gpu_tuning_key(const std::vector<std::string> &names, const std::vector<std::string> &uuids,
                         const topology::Snapshot &machine);
/// Of GPUs that meet in host memory, whatever links them.
TuningKey staging_tuning_key(const std::vector<std::string> &names);
TuningKey host_tuning_key(int ranks);

}  // namespace baton::core
