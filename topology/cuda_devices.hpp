#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/snapshot.hpp"

/// What the CUDA runtime says of the devices that this process sees. Creates no context and leaves no error behind.
namespace baton::topology {

struct CudaDevice {
    int ordinal = 0;
    std::string name;
    std::string uuid;
    std::optional<PciAddress> pci;
    std::optional<int> host_numa;
};

struct CudaPair {
    std::optional<bool> access;
    std::optional<bool> atomics;
};

struct CudaFacts {
    std::string problem;  ///< why there are no devices; empty where there are some
    int driver_version = 0;
    int runtime_version = 0;
    std::vector<CudaDevice> devices;
    std::vector<CudaPair> pairs;  ///< devices.size()^2, from * n + to
};

CudaFacts read_cuda();

}  // namespace baton::topology
