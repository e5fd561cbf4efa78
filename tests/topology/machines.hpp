#pragma once

#include <functional>
#include <string>

#include "topology/assemble.hpp"

/// Hand-made answers of NVML and CUDA for machines that the tests talk about.
namespace baton::topology::machines {

inline PciAddress slot(int index) { return {0, static_cast<std::uint32_t>(0x10 * (index + 1)), 0}; }

inline NvmlGpu gpu(int index, const std::string &name) {
    NvmlGpu gpu;
    gpu.name = name;
    gpu.uuid = "GPU-0000000" + std::to_string(index) + "-0000-0000-0000-000000000000";
    gpu.pci = slot(index);
    return gpu;
}

inline NvmlLink link(int index, int version, int mbps) {
    NvmlLink link;
    link.index = index;
    link.active = true;
    link.version = version;
    link.mbps = mbps;
    return link;
}

inline NvmlPair answers(P2pStatus access, P2pStatus nvlink, CommonAncestor ancestor) {
    return {access, access, nvlink, nvlink, ancestor};
}

using PairRule = std::function<NvmlPair(int from, int to)>;

inline void add_pairs(NvmlFacts &facts, const PairRule &rule) {
    const int n = static_cast<int>(facts.gpus.size());
    for (int from = 0; from < n; ++from)
        for (int to = 0; to < n; ++to) facts.pairs.push_back(from == to ? NvmlPair{} : rule(from, to));
}

/// CUDA sees the same GPUs in the same order and has access wherever `access` says so.
inline CudaFacts cuda_for(const NvmlFacts &nvml, bool access) {
    CudaFacts cuda;
    cuda.driver_version = 13000;
    cuda.runtime_version = 13000;
    for (std::size_t index = 0; index < nvml.gpus.size(); ++index)
        cuda.devices.push_back(
            {static_cast<int>(index), nvml.gpus[index].name, nvml.gpus[index].uuid, nvml.gpus[index].pci, {}});
    for (std::size_t from = 0; from < cuda.devices.size(); ++from)
        for (std::size_t to = 0; to < cuda.devices.size(); ++to)
            cuda.pairs.push_back(from == to ? CudaPair{} : CudaPair{access, access});
    return cuda;
}

/// A virtual machine with H200s whose NVSwitches are hidden.
inline NvmlFacts h200_hidden_switches(int gpus = 8) {
    NvmlFacts facts;
    facts.driver = "580.159.04";
    for (int index = 0; index < gpus; ++index) {
        facts.gpus.push_back(gpu(index, "NVIDIA H200"));
        for (int l = 0; l < 18; ++l) {
            NvmlLink up = link(l, 6, 26562);
            up.remote_hidden = true;
            facts.gpus.back().links.push_back(up);
        }
    }
    add_pairs(facts, [](int, int) { return answers(P2pStatus::ok, P2pStatus::ok, CommonAncestor::system); });
    return facts;
}

/// Two boards without NVLink behind one host bridge.
inline NvmlFacts two_pcie(P2pStatus access) {
    NvmlFacts facts;
    facts.driver = "550.54.15";
    for (int index = 0; index < 2; ++index) {
        facts.gpus.push_back(gpu(index, "NVIDIA L4"));
        facts.gpus.back().numa_node = index;
    }
    add_pairs(facts,
              [access](int, int) { return answers(access, P2pStatus::not_supported, CommonAncestor::host_bridge); });
    return facts;
}

/// Four GPUs, NVLink bridges over 0-1 and 2-3, each pair on its own socket.
inline NvmlFacts two_bridges() {
    NvmlFacts facts;
    for (int index = 0; index < 4; ++index) {
        facts.gpus.push_back(gpu(index, "NVIDIA A100 80GB PCIe"));
        facts.gpus.back().numa_node = index / 2;
        for (int l = 0; l < 12; ++l) {
            NvmlLink up = link(l, 4, 25000);
            up.remote = slot(index ^ 1);
            facts.gpus.back().links.push_back(up);
        }
    }
    add_pairs(facts, [](int from, int to) {
        return from / 2 == to / 2 ? answers(P2pStatus::ok, P2pStatus::ok, CommonAncestor::node)
                                  : answers(P2pStatus::ok, P2pStatus::not_supported, CommonAncestor::system);
    });
    return facts;
}

inline NvmlFacts no_nvml() {
    NvmlFacts facts;
    facts.problem = "NVML not found: libnvidia-ml.so.1: no such file";
    return facts;
}

}  // namespace baton::topology::machines
