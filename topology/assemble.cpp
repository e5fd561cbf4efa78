#include "topology/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/classify.hpp"
#include "topology/names.hpp"
#include "topology/printable.hpp"

namespace baton::topology {
namespace {

int gpu_at(const std::vector<Gpu> &gpus, const std::optional<PciAddress> &address) {
    if (!address) return -1;
    for (std::size_t index = 0; index < gpus.size(); ++index)
        if (gpus[index].pci.known() && gpus[index].pci.value == *address) return static_cast<int>(index);
    return -1;
}

Gpu from_nvml(const NvmlGpu &raw) {
    Gpu gpu;
    gpu.name = raw.name;
    gpu.mig = raw.mig;
    if (!raw.uuid.empty()) gpu.uuid = {raw.uuid, Source::nvml};
    if (raw.pci) gpu.pci = {*raw.pci, Source::nvml};
    if (raw.numa_node) gpu.numa_node = {*raw.numa_node, Source::sysfs};
    if (raw.c2c_links) gpu.c2c_links = {*raw.c2c_links, Source::nvml};
    if (raw.c2c_mbps) gpu.c2c_mbps = {*raw.c2c_mbps, Source::nvml};
    if (!raw.links.empty()) gpu.nvlink_source = Source::nvml;
    return gpu;
}

/// The index of the switch at that address. Adds one that hwloc does not show.
int switch_at(std::vector<NvSwitch> &switches, const PciAddress &address) {
    for (std::size_t index = 0; index < switches.size(); ++index)
        if (switches[index].pci.value == address) return static_cast<int>(index);
    switches.push_back({{address, Source::nvml}, -1});
    return static_cast<int>(switches.size()) - 1;
}

void add_links(const NvmlGpu &raw, Snapshot &snapshot, Gpu &gpu) {
    for (const NvmlLink &link : raw.links) {
        NvLink result{link.index, link.active, link.version, link.mbps, FarEnd::unknown, -1, -1};
        if (link.active) {
            result.peer_gpu = gpu_at(snapshot.gpus, link.remote);
            result.far_end = classify_far_end(link, result.peer_gpu);
            if (result.far_end == FarEnd::nvswitch && link.remote)
                result.peer_switch = switch_at(snapshot.nvswitches, *link.remote);
        }
        gpu.nvlinks.push_back(result);
    }
}

/// The entry for a CUDA device: one at its PCI address that no other ordinal has taken, else a new one (a further slice
/// of a GPU, or a GPU that NVML did not show).
Gpu &entry_for(const CudaDevice &device, std::vector<Gpu> &gpus) {
    for (Gpu &gpu : gpus)
        if (device.pci && gpu.pci.known() && gpu.pci.value == *device.pci && !gpu.cuda_ordinal.known()) return gpu;
    Gpu gpu;
    if (int sibling = gpu_at(gpus, device.pci); sibling >= 0) {
        gpu.numa_node = gpus[static_cast<std::size_t>(sibling)].numa_node;
        gpu.mig = gpus[static_cast<std::size_t>(sibling)].mig;
    }
    if (device.pci) gpu.pci = {*device.pci, Source::cuda};
    gpus.push_back(std::move(gpu));
    return gpus.back();
}

void add_cuda_device(const CudaDevice &device, std::vector<Gpu> &gpus) {
    Gpu &gpu = entry_for(device, gpus);
    gpu.cuda_ordinal = {device.ordinal, Source::cuda};
    if (gpu.name.empty()) gpu.name = device.name;
    // NVML tells the UUID of the whole GPU, which is not that of a slice.
    if (!device.uuid.empty() && (!gpu.uuid.known() || (gpu.mig && !same_uuid(gpu.uuid.value, device.uuid))))
        gpu.uuid = {gpu.mig ? "MIG" + device.uuid.substr(3) : device.uuid, Source::cuda};
    if (!gpu.numa_node.known() && device.host_numa) gpu.numa_node = {*device.host_numa, Source::cuda};
}

/// The status, or `unknown` for one that our list lacks: newer drivers may have more of them.
P2pStatus in_our_list(P2pStatus status) { return *from_name<P2pStatus>(name_of(status)); }

Known<bool> permission(std::optional<P2pStatus> status) {
    if (!status || in_our_list(*status) == P2pStatus::unknown) return {};
    return {*status == P2pStatus::ok, Source::nvml};
}

void restrict_by(Known<bool> &permission, std::optional<bool> cuda) {
    if (!cuda) return;
    if (!permission.known() || (permission.value && !*cuda)) permission = {*cuda, Source::cuda};
}

PairFacts facts_from(const NvmlPair &answers) {
    PairFacts facts;
    facts.p2p_read = permission(answers.read);
    facts.p2p_write = permission(answers.write);
    facts.p2p_atomics = permission(answers.atomics);
    if (answers.nvlink) facts.nvlink = {in_our_list(*answers.nvlink), Source::nvml};
    if (answers.ancestor &&
        from_name<CommonAncestor>(name_of(*answers.ancestor)))  // not one that is newer than our list
        facts.ancestor = {*answers.ancestor, Source::nvml};
    return facts;
}

void add_pairs(const NvmlFacts &nvml, const CudaFacts &cuda, Snapshot &snapshot) {
    const std::size_t n = snapshot.gpus.size(), by_cuda = cuda.devices.size(), by_nvml_count = nvml.gpus.size();
    snapshot.pairs.assign(n * n, {});
    for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t to = 0; to < n; ++to) {
            if (from == to) continue;
            PairFacts &pair = snapshot.pair(from, to);
            if (from < by_nvml_count && to < by_nvml_count && nvml.pairs.size() == by_nvml_count * by_nvml_count)
                pair = facts_from(nvml.pairs[from * by_nvml_count + to]);
            const Known<int> &a = snapshot.gpus[from].cuda_ordinal, &b = snapshot.gpus[to].cuda_ordinal;
            if (!a.known() || !b.known() || cuda.pairs.size() != by_cuda * by_cuda) continue;
            const CudaPair &word =
                cuda.pairs[static_cast<std::size_t>(a.value) * by_cuda + static_cast<std::size_t>(b.value)];
            restrict_by(pair.p2p_read, word.access);
            restrict_by(pair.p2p_write, word.access);
            restrict_by(pair.p2p_atomics, word.atomics);
        }
    }
}

bool any_active(const Gpu &gpu) {
    return std::any_of(gpu.nvlinks.begin(), gpu.nvlinks.end(), [](const NvLink &link) { return link.active; });
}

/// A card without a bridge has all its NVLinks down. That is no fault, unless GPUs of the same name have links that are
/// up.
void note_dead_links(Snapshot &snapshot) {
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index) {
        const Gpu &gpu = snapshot.gpus[index];
        const auto active =
            std::count_if(gpu.nvlinks.begin(), gpu.nvlinks.end(), [](const NvLink &link) { return link.active; });
        const bool others_have = std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(), [&](const Gpu &other) {
            return other.name == gpu.name && any_active(other);
        });
        if (!others_have || static_cast<std::size_t>(active) == gpu.nvlinks.size()) continue;
        if (active == 0)
            snapshot.gaps.push_back(fmt::format("none of the {} NVLinks of GPU {} is up", gpu.nvlinks.size(), index));
        else
            snapshot.gaps.push_back(
                fmt::format("only {} of the {} NVLinks of GPU {} are up", active, gpu.nvlinks.size(), index));
    }
}

/// Notes links to switches that connect nothing. Bridges between other pairs are no fault.
void note_refused_nvlinks(Snapshot &snapshot) {
    const std::size_t n = snapshot.gpus.size();
    const auto direct = [&](std::size_t index) {
        const auto &links = snapshot.gpus[index].nvlinks;
        return std::all_of(links.begin(), links.end(),
                           [](const NvLink &link) { return !link.active || link.peer_gpu >= 0; });
    };
    const auto joined = [&](std::size_t from, std::size_t to) {
        const auto &links = snapshot.gpus[from].nvlinks;
        return std::any_of(links.begin(), links.end(),
                           [&](const NvLink &link) { return link.active && link.peer_gpu == static_cast<int>(to); });
    };
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = from + 1; to < n; ++to) {
            const Known<P2pStatus> &nvlink = snapshot.pair(from, to).nvlink;
            if (!any_active(snapshot.gpus[from]) || !any_active(snapshot.gpus[to]) || !nvlink.known()) continue;
            if (nvlink.value == P2pStatus::ok || nvlink.value == P2pStatus::unknown) continue;
            if ((direct(from) || direct(to)) && !joined(from, to)) continue;
            snapshot.gaps.push_back(
                fmt::format("GPUs {} and {} have NVLinks that do not connect them: NVML says {}; is the fabric "
                            "manager running?",
                            from, to, name_of(nvlink.value)));
            return;  // one line: a fabric that is down shows on every pair
        }
}

/// Adds what the PCI trees know of a GPU that NVML or CUDA shows.
void place(const std::vector<Gpu> &on_pci, const std::vector<NumaNode> &nodes, Gpu &gpu) {
    for (const Gpu &seen : on_pci) {
        if (!gpu.pci.known() || seen.pci.value != gpu.pci.value) continue;
        gpu.pci_node = seen.pci_node;
        gpu.cpuset = seen.cpuset;
        if (!gpu.numa_node.known()) gpu.numa_node = seen.numa_node;
    }
    if (gpu.cpuset.known() || !gpu.numa_node.known()) return;
    for (const NumaNode &node : nodes)
        if (node.os_index == gpu.numa_node.value && !node.cpuset.empty())
            gpu.cpuset = {node.cpuset, gpu.numa_node.source};
}

}  // namespace

Snapshot assemble(const NvmlFacts &nvml, const CudaFacts &cuda, Snapshot machine) {
    Snapshot snapshot = std::move(machine);
    const std::vector<Gpu> on_pci = std::move(snapshot.gpus);
    snapshot.gpus.clear();
    if (!nvml.driver.empty()) snapshot.driver = {nvml.driver, Source::nvml};
    snapshot.cuda_driver_version = cuda.driver_version;
    snapshot.cuda_runtime_version = cuda.runtime_version;
    for (const NvmlGpu &raw : nvml.gpus) snapshot.gpus.push_back(from_nvml(raw));
    for (std::size_t index = 0; index < nvml.gpus.size(); ++index)
        add_links(nvml.gpus[index], snapshot, snapshot.gpus[index]);
    for (const CudaDevice &device : cuda.devices) add_cuda_device(device, snapshot.gpus);
    for (Gpu &gpu : snapshot.gpus) place(on_pci, snapshot.host.numa_list, gpu);
    add_pairs(nvml, cuda, snapshot);

    if (!nvml.problem.empty()) snapshot.gaps.push_back(nvml.problem);
    snapshot.gaps.insert(snapshot.gaps.end(), nvml.gaps.begin(), nvml.gaps.end());
    if (!cuda.problem.empty()) snapshot.gaps.push_back(cuda.problem);
    if (snapshot.gpus.empty() && !on_pci.empty())
        snapshot.gaps.push_back(fmt::format("{} NVIDIA GPUs on PCI that neither NVML nor CUDA shows", on_pci.size()));
    note_dead_links(snapshot);
    note_refused_nvlinks(snapshot);
    make_printable(snapshot);
    return snapshot;
}

}  // namespace baton::topology
