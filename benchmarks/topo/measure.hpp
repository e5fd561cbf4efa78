#pragma once

#include <vector>

#include "environment.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// What copy engines move from each rank's GPU into each other's memory while nothing else runs, as
/// Snapshot::pairs[...].measured_mbps of the snapshot's GPUs. Collective; only rank 0's snapshot is changed. Throws
/// bench::Refusal without GPUs, with one rank, or where they do not reach each other. `gpu_of_rank`: on rank 0; a GPU
/// that it does not know is left out.
void measure_pairs(const bench::World &world, const std::vector<int> &gpu_of_rank, Snapshot &snapshot);

}  // namespace baton::topology
