#include "comm/gpu_share.hpp"

#include <algorithm>

#include "collectives/kernels.hpp"
#include "sync/arena.hpp"

namespace baton::core {
namespace {

/// Kernels that wait for each other must be resident together, on all ranks of a GPU and for all communicators that
/// have operations in flight at once: room is made for those of four. Where a channel has two blocks, each takes half
/// the room. They may be placed so that a wide block finds no room beside them, but they always find some themselves,
/// so they end, and the others follow.
constexpr int communicators_in_flight = 4;

}  // namespace

int ranks_on_gpu(const std::vector<DeviceIdentity> &gpus, const std::string &uuid) {
    return static_cast<int>(
        std::count_if(gpus.begin(), gpus.end(), [&](const DeviceIdentity &gpu) { return gpu.uuid == uuid; }));
}

std::vector<std::string> uuids_of(const std::vector<DeviceIdentity> &gpus) {
    std::vector<std::string> uuids;
    for (const DeviceIdentity &gpu : gpus) uuids.push_back(gpu.uuid);
    return uuids;
}

int channels_of(const std::vector<DeviceIdentity> &gpus, int most) {
    for (const DeviceIdentity &gpu : gpus) {
        const int resident = gpu.multiprocessors * blocks_per_multiprocessor;
        // Limited to max_channels before the division: otherwise two ranks of an H200 would get 33 channels each (of
        // 66), not half of the 64 in its tuning rows.
        const int of_each = std::min(resident / communicators_in_flight, max_channels);
        most = std::min(most, std::max(of_each / ranks_on_gpu(gpus, gpu.uuid), 1));
    }
    return most;
}

}  // namespace baton::core
