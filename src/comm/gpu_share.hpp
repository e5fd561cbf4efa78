#pragma once

#include <string>
#include <vector>

#include "collectives/gpu_setup.hpp"

namespace baton::core {

/// `gpus`: of each rank.
int ranks_on_gpu(const std::vector<DeviceIdentity> &gpus, const std::string &uuid);

/// The channels of every rank of a communicator, `most` at most: as many as the rank has room for whose part of its
/// GPU's multiprocessors is the smallest, since channels of two ranks meet each other. Pure.
int channels_of(const std::vector<DeviceIdentity> &gpus, int most);

}  // namespace baton::core
