#pragma once

#include "topology/cuda_devices.hpp"
#include "topology/nvml.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// Joins what NVML and CUDA said with hwloc's view of the machine: a pure function.
/// - GPUs are those of NVML in its order (PCI order), then those that only CUDA knows. GPUs that only PCI shows stay in
///   the tree, since a container sees the PCI devices of its whole machine.
/// - Where both NVML and CUDA answer, a P2P permission needs both, because CUDA speaks for this process.
Snapshot assemble(const NvmlFacts &nvml, const CudaFacts &cuda, Snapshot machine = {});

}  // namespace baton::topology
