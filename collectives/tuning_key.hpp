#pragma once

#include <string>
#include <vector>

#include "collectives/tuning.hpp"

namespace baton::core {

/// The key of ranks on these GPUs, one name per rank, that reach each other's memory. `weakest_link`: the
/// topology::link_name() of topology::weakest_link().
TuningKey gpu_tuning_key(const std::vector<std::string> &names, const std::string &weakest_link);
/// The key of GPUs that meet in host memory, whatever links them.
TuningKey staging_tuning_key(const std::vector<std::string> &names);
TuningKey host_tuning_key(int ranks);

}  // namespace baton::core
