#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What is known about a machine, as plain data: filled once (discover.hpp, readers.hpp, or by hand in tests), then
/// only read. It holds what was said, and by whom. What follows from it is in the Graph (graph.hpp) and in advice
/// (advice.hpp).
namespace baton::topology {

/// Who said it. `none`: nobody did, and the value beside it means nothing.
enum class Source : std::uint8_t {
    none,
    nvml,
    cuda,
    hwloc,
    sysfs,
    table,          ///< what Baton knows itself, such as the bandwidth of a link generation
    hwloc_xml,      ///< a file in hwloc's format
    nccl_xml,       ///< a file in NCCL's format
    override_file,  ///< the user, see override.hpp
    probe,          ///< tried: a word was written to the peer's memory and read back
    measured
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
    std::uint32_t function = 0;

    bool operator==(const PciAddress &) const = default;
};

/// "0000:1b:00.0", as the kernel names the device in sysfs.
std::string to_string(const PciAddress &address);
/// Also reads addresses without the function, and in upper case, as NVML and NCCL write them. Empty for anything else.
std::optional<PciAddress> parse_pci_address(std::string_view text);

// ---- processors and memory -----------------------------------------------------------------------------------------

/// Sets of processing units are written as lists, like those of hwloc and Linux: "0-3,8". Empty: unknown, or none. They
/// describe the machine: a container or a job may use fewer, see Restriction.
struct Package {
    std::string cpuset;

    bool operator==(const Package &) const = default;
};

struct NumaNode {
    int os_index = 0;
    std::string cpuset;  ///< empty for memory without processors, such as a GPU's
    std::uint64_t memory_bytes = 0;

    bool operator==(const NumaNode &) const = default;
};

/// The part of the machine that this process may not use, for instance because of a container's cgroup. hwloc has no
/// objects for it, so without this a machine of several NUMA nodes could pass for one with a single node.
struct Restriction {
    std::string usable_pus;         ///< the process may use no others
    std::vector<int> hidden_nodes;  ///< NUMA nodes with processors, but no entry in Host::numa_list: os_index, rising

    bool operator==(const Restriction &) const = default;
};

struct Host {
    std::string cpu_model;
    int packages = 0;
    int numa_nodes = 0;  ///< hidden ones too
    int cores = 0;       ///< with a processing unit that this process may use
    int pus = 0;         ///< processing units that this process may use
    Source source = Source::none;
    std::vector<Package> package_list;   ///< `packages` entries, or none where they are not known
    std::vector<NumaNode> numa_list;     ///< by rising os_index
    std::vector<std::string> core_list;  ///< cpusets
    std::optional<Restriction> restriction;

    bool operator==(const Host &) const = default;
};

/// The only NUMA node of the machine; null if it has several, or if nobody tells.
const NumaNode *only_numa_node(const Host &host);

// ---- PCI -----------------------------------------------------------------------------------------------------------

enum class PciKind : std::uint8_t {
    host_bridge,  ///< a root complex; no address
    bridge,       ///< a root port, or one port of a switch
    pci_switch,   ///< a switch with all its ports, as NCCL's format shows it
    gpu,          ///< NVIDIA's; others are `other`
    nic,
    nvswitch,
    other
};

/// One object of the PCI trees. Snapshot::pci holds them with parents before their children.
struct PciNode {
    PciKind kind = PciKind::other;
    int parent = -1;  ///< index in Snapshot::pci; -1: a root
    std::optional<PciAddress> address;
    std::uint32_t vendor = 0, device = 0, class_id = 0;  ///< class_id: base class and sub-class, 0x0302
    Known<int> mbps;                                     ///< of the link above it; unknown where it is implausible
    std::string name;

    /// For a root: the processors and NUMA nodes that are near it. Empty: not known, as in most virtual machines.
    std::string cpuset;
    std::vector<int> numa_nodes;  ///< os_index, rising; the first of several memories beside the same processors

    bool operator==(const PciNode &) const = default;
};

// ---- GPUs ----------------------------------------------------------------------------------------------------------

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
    int reported_mbps = 0;  ///< one direction, as the source says it, with signalling overhead; 0 unknown
    FarEnd far_end = FarEnd::unknown;
    int peer_gpu = -1;     ///< index in Snapshot::gpus where far_end is a GPU of this machine, else -1
    int peer_switch = -1;  ///< index in Snapshot::nvswitches where far_end is a switch that can be seen, else -1

    bool operator==(const NvLink &) const = default;
};

struct Gpu {
    std::string name;
    Known<std::string> uuid;  ///< "GPU-..."; "MIG-..." for a slice of a GPU
    Known<PciAddress> pci;
    Known<int> cuda_ordinal;  ///< unknown: not visible to CUDA in this process
    Known<int> numa_node;
    bool mig = false;
    std::vector<NvLink> nvlinks;  ///< all links that the GPU has, dead ones included
    Source nvlink_source = Source::none;
    Known<std::string> cpuset;  ///< the processors near it
    int pci_node = -1;          ///< index in Snapshot::pci; -1: not in the tree
    Known<int> c2c_links;       ///< NVLink-C2C to the CPU
    Known<int> c2c_mbps;        ///< all of them together, one direction

    bool operator==(const Gpu &) const = default;
};

struct NvSwitch {
    Known<PciAddress> pci;
    int pci_node = -1;

    bool operator==(const NvSwitch &) const = default;
};

enum class NicKind : std::uint8_t {
    ethernet,
    infiniband,
    other
};

struct Nic {
    std::string name;  ///< "mlx5_0", "eth0"; the PCI address where it has no name
    NicKind kind = NicKind::other;
    Known<PciAddress> pci;
    Known<int> numa_node;
    int pci_node = -1;

    bool operator==(const Nic &) const = default;
};

// ---- pairs of GPUs -------------------------------------------------------------------------------------------------

/// nvmlGpuP2PStatus_t. All but `ok` and `unknown` mean no. Values that newer drivers add count as `unknown`.
enum class P2pStatus : int {
    ok = 0,
    chipset_not_supported = 1,
    gpu_not_supported = 2,
    ioh_topology_not_supported = 3,
    disabled_by_regkey = 4,
    not_supported = 5,
    unknown = 6
};

/// nvmlGpuTopologyLevel_t: the deepest thing that two GPUs have in common in the PCI tree.
enum class CommonAncestor : int {
    internal = 0,
    single = 10,
    multiple = 20,
    host_bridge = 30,
    node = 40,
    system = 50
};

/// How two devices reach each other, best first; the PCIe kinds are those of `nvidia-smi topo -m`.
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

/// What was said about an ordered pair of GPUs.
struct PairFacts {
    Known<LinkKind> kind;  ///< stated outright, as by an override; else the graph finds it
    Known<int> links;      ///< likewise
    Known<int> mbps;       ///< likewise: nominal, one direction
    Known<bool> p2p_read;  ///< the first GPU may read the second one's memory
    Known<bool> p2p_write;
    Known<bool> p2p_atomics;
    Known<P2pStatus> nvlink;  ///< whether NVLink connects them, by NVML
    Known<CommonAncestor> ancestor;
    Known<int> measured_mbps;  ///< what a copy from the first to the second reached

    bool operator==(const PairFacts &) const = default;
};

// ---- all of it -----------------------------------------------------------------------------------------------------

struct Snapshot {
    std::vector<Gpu> gpus;
    Known<bool> of_ranks;          ///< true: `gpus` are ranks of a communicator, which an override put in their place
    std::vector<PairFacts> pairs;  ///< gpus.size()^2, always; see pair()
    std::vector<NvSwitch> nvswitches;
    std::vector<Nic> nics;
    std::vector<PciNode> pci;
    Source pci_source = Source::none;
    Host host;
    Known<std::string> driver;      ///< "580.159.04"
    int cuda_driver_version = 0;    ///< 13000 = 13.0; 0 unknown
    int cuda_runtime_version = 0;   ///< likewise, what Baton was built with; 0 in a build without CUDA
    std::vector<std::string> gaps;  ///< what could not be found out, and why: one sentence each

    PairFacts &pair(std::size_t from, std::size_t to) { return pairs[from * gpus.size() + to]; }
    const PairFacts &pair(std::size_t from, std::size_t to) const { return pairs[from * gpus.size() + to]; }

    bool operator==(const Snapshot &) const = default;
};

/// The root of the tree that `node`, an index in Snapshot::pci, is in; -1 for -1.
int pci_root_of(const Snapshot &snapshot, int node);

/// Whether two UUIDs name the same GPU, or the same slice of one.
bool same_uuid(std::string_view a, std::string_view b);

/// Whether `name` means this GPU: its UUID, its PCI address, or as text its index in Snapshot::gpus.
bool is_named(const Gpu &gpu, std::size_t index, std::string_view name);

/// Indices in Snapshot::gpus of what `name` means: several only where slices of a GPU share its address.
std::vector<int> find_gpus(const Snapshot &snapshot, std::string_view name);

/// The first of find_gpus(); -1 if there is none.
int find_gpu(const Snapshot &snapshot, std::string_view name);

/// Indices in Snapshot::pci of the direct children of `node`, or for -1 of the roots.
std::vector<int> pci_children(const Snapshot &snapshot, int node);

}  // namespace baton::topology
