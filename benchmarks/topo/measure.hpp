#pragma once

#include <vector>

#include "environment.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// Measures what copy engines move from each rank's GPU into each other's memory while nothing else runs, as
/// Snapshot::pairs[...].measured_mbps of the snapshot's GPUs. Collective; only rank 0's snapshot is changed. Throws
/// bench::Refusal without GPUs, with one rank, or if the GPUs do not reach each other. `gpu_of_rank` counts on rank 0;
/// a rank whose GPU the snapshot does not know (-1) is left out.
void measure_pairs(const bench::World &world, const std::vector<int> &gpu_of_rank, Snapshot &snapshot);

}  // namespace baton::topology
