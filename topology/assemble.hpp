#pragma once

#include "topology/cuda_devices.hpp"
#include "topology/nvml.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// Joins what NVML and CUDA said into one Snapshot: a pure function. GPUs are those of NVML in its order (PCI order),
/// then those that only CUDA knows. Where both answer, a P2P permission needs both, since CUDA speaks for this process.
Snapshot assemble(const NvmlFacts &nvml, const CudaFacts &cuda);

}  // namespace baton::topology
