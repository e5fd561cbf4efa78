#pragma once

#include <string>
#include <vector>

#include "collectives/gpu_setup.hpp"

namespace baton::core {

/// Returns how many ranks use the GPU with this UUID. `gpus`: of each rank.
int ranks_on_gpu(const std::vector<DeviceIdentity> &gpus, const std::string &uuid);

std::vector<std::string> uuids_of(const std::vector<DeviceIdentity> &gpus);

/// Returns the number of channels of a communicator, at most `most`: as many as fit the rank with the smallest share of
/// a GPU's multiprocessors, since a channel runs on all ranks. Pure.
int channels_of(const std::vector<DeviceIdentity> &gpus, int most);

}  // namespace baton::core
