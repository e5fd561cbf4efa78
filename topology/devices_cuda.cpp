#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "topology/cuda_devices.hpp"
#include "util/gpu_uuid.hpp"

namespace baton::topology {
namespace {

/// A failed question must not look like a failure of the caller's next CUDA call.
bool succeeded(cudaError_t error) {
    if (error == cudaSuccess) return true;
    (void)cudaGetLastError();
    return false;
}

CudaPair read_pair(int from, int to) {
    CudaPair pair;
    if (from == to) return pair;
    int answer = 0;
    if (succeeded(cudaDeviceCanAccessPeer(&answer, from, to))) pair.access = answer == 1;
    if (succeeded(cudaDeviceGetP2PAttribute(&answer, cudaDevP2PAttrNativeAtomicSupported, from, to)))
        pair.atomics = answer == 1;
    return pair;
}

}  // namespace

CudaFacts read_cuda() {
    CudaFacts facts;
    (void)succeeded(cudaRuntimeGetVersion(&facts.runtime_version));
    (void)succeeded(cudaDriverGetVersion(&facts.driver_version));
    int count = 0;
    if (cudaError_t error = cudaGetDeviceCount(&count); !succeeded(error)) {
        facts.problem = fmt::format("CUDA sees no GPU: {}", cudaGetErrorString(error));
        return facts;
    }
    if (count == 0) facts.problem = "CUDA sees no GPU";
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        CudaDevice device;
        device.ordinal = ordinal;
        if (cudaDeviceProp properties{}; succeeded(cudaGetDeviceProperties(&properties, ordinal))) {
            device.name = properties.name;
            device.uuid = core::gpu_uuid_text(properties.uuid.bytes);
            device.pci = PciAddress{static_cast<std::uint32_t>(properties.pciDomainID),
                                    static_cast<std::uint32_t>(properties.pciBusID),
                                    static_cast<std::uint32_t>(properties.pciDeviceID)};
        }
        if (int node = -1; succeeded(cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, ordinal)) && node >= 0)
            device.host_numa = node;
        facts.devices.push_back(std::move(device));
    }
    for (int from = 0; from < count; ++from)
        for (int to = 0; to < count; ++to) facts.pairs.push_back(read_pair(from, to));
    return facts;
}

}  // namespace baton::topology
