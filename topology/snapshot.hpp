#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What is known about this machine, as plain data: read once by discover(), written by hand in tests, then only read.
namespace baton::topology {

/// Who said it. `none`: nobody did, and the value beside it means nothing.
enum class Source : std::uint8_t {
    none,
    nvml,
    cuda,
    hwloc,
    sysfs,
    table
};

template <class T>
struct Known {
    T value{};
    Source source = Source::none;

    bool known() const { return source != Source::none; }
    bool operator==(const Known &) const = default;
};

struct PciAddress {
    std::uint32_t domain = 0;
    std::uint32_t bus = 0;
    std::uint32_t device = 0;

    bool operator==(const PciAddress &) const = default;
};

/// "0000:1b:00.0", as the kernel names the device in sysfs.
std::string to_string(const PciAddress &address);

/// Where an NVLink ends. Virtual machines and containers hide the NVSwitches: NVML then names FFFFFFFF:FF:FF.0.
enum class FarEnd : std::uint8_t {
    unknown,
    gpu,
    nvswitch,
    hidden_switch,
    cpu
};

struct NvLink {
    int index = 0;
    bool active = false;
    int version = 0;  ///< NVML's code: 1 = NVLink 1, 2 and 3 = NVLink 2, 4 and 5 = NVLink 3, 6 = 4, 7 = 5; 0 unknown
    int reported_mbps = 0;  ///< what NVML says of one direction, signalling overhead included; 0 unknown
    FarEnd far_end = FarEnd::unknown;
    int peer_gpu = -1;  ///< index in Snapshot::gpus where far_end is a GPU of this machine, else -1
};

struct Gpu {
    std::string name;
    Known<std::string> uuid;  ///< "GPU-..."; "MIG-..." for a slice of a GPU
    Known<PciAddress> pci;
    Known<int> cuda_ordinal;  ///< unknown: not visible to CUDA in this process
    Known<int> numa_node;
    bool mig = false;
    std::vector<NvLink> nvlinks;  ///< all links that the GPU has, dead ones included
};

/// How two GPUs reach each other, best first; the PCIe kinds are those of `nvidia-smi topo -m`.
enum class LinkKind : std::uint8_t {
    SELF,
    SAME_DEVICE,  ///< two slices of one GPU
    NVLINK,       ///< direct links
    NVSWITCH,
    C2C,
    PIX,   ///< at most one PCIe switch
    PXB,   ///< several PCIe switches, no host bridge
    PHB,   ///< a host bridge
    NODE,  ///< several host bridges of one NUMA node
    SYS,   ///< the link between NUMA nodes
    NONE   ///< not known
};

/// An ordered pair of GPUs.
struct Pair {
    Known<LinkKind> kind{LinkKind::NONE, Source::none};
    int links = 0;            ///< NVLinks that the pair can use at once; 0 with an NVLink kind: number unknown
    Known<int> nominal_mbps;  ///< per direction; what the generation promises, not what a copy reaches
    Known<bool> p2p_read;     ///< the first GPU may read the second one's memory
    Known<bool> p2p_write;
    Known<bool> p2p_atomics;
    bool switch_hidden = false;
    std::string why;  ///< the fact that decided the kind
};

struct Host {
    std::string cpu_model;
    int packages = 0;
    int numa_nodes = 0;
    int cores = 0;
    int pus = 0;  ///< processing units that this process may use
    Source source = Source::none;
};

struct Snapshot {
    std::vector<Gpu> gpus;
    std::vector<Pair> pairs;  ///< gpus.size()^2; see pair()
    Host host;
    Known<std::string> driver;      ///< "580.159.04"
    int cuda_driver_version = 0;    ///< 13000 = 13.0; 0 unknown
    int cuda_runtime_version = 0;   ///< likewise, what Baton was built with; 0 in a build without CUDA
    std::vector<std::string> gaps;  ///< what could not be found out, and why: one sentence each

    Pair &pair(std::size_t from, std::size_t to) { return pairs[from * gpus.size() + to]; }
    const Pair &pair(std::size_t from, std::size_t to) const { return pairs[from * gpus.size() + to]; }
};

}  // namespace baton::topology
