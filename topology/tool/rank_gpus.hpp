#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// What a rank tells of itself and the GPU that it uses. Empty: it has none, or CUDA does not tell.
struct RankGpu {
    int local_rank = 0;
    std::string uuid;
    std::optional<PciAddress> pci;
    std::string name;

    bool operator==(const RankGpu &) const = default;
};

/// One line, to be sent to rank 0, and back.
std::string to_line(const RankGpu &told);
RankGpu rank_gpu_from(const std::string &line);

/// Throws where ranks are on several hosts: what describes one machine would show GPUs of the others as this one's.
void require_one_host(const std::vector<RankGpu> &ranks);

/// Each rank's index in Snapshot::gpus, or -1. Two UUIDs are two GPUs or slices, wherever they are: a rank's that the
/// snapshot lacks (slices and GPUs that only that rank sees) is added to it.
std::vector<int> find_or_add_gpus(const std::vector<RankGpu> &ranks, Snapshot &snapshot);

}  // namespace baton::topology
