#pragma once

#include <string>
#include <vector>

#include "collectives/gpu_setup.hpp"

namespace baton::core {

/// `gpus`: of each rank.
int ranks_on_gpu(const std::vector<DeviceIdentity> &gpus, const std::string &uuid);

std::vector<std::string> uuids_of(const std::vector<DeviceIdentity> &gpus);

/// Channels for every rank of a communicator, `most` at most: what fits the rank with the smallest share of a GPU's
/// multiprocessors, since a channel runs on all ranks. Pure.
int channels_of(const std::vector<DeviceIdentity> &gpus, int most);

}  // namespace baton::core
