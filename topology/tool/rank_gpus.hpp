#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// What a rank tells of itself and the GPU that it uses. Empty fields: it has none, or CUDA does not tell.
struct RankGpu {
    int local_rank = 0;
    std::string uuid;
    std::optional<PciAddress> pci;
    std::string name;

    bool operator==(const RankGpu &) const = default;
};

/// To a line, which is sent to rank 0, and back.
std::string to_line(const RankGpu &told);
RankGpu rank_gpu_from(const std::string &line);

/// Throws if the ranks are on several hosts: the GPUs of other hosts would be shown as those of this machine.
void require_one_host(const std::vector<RankGpu> &ranks);

/// Returns each rank's index in Snapshot::gpus, or -1. Two UUIDs are two GPUs or slices, even at one address. What a
/// rank uses and the snapshot lacks (slices and GPUs that only that rank sees) is added to it.
std::vector<int> find_or_add_gpus(const std::vector<RankGpu> &ranks, Snapshot &snapshot);

}  // namespace baton::topology
