#include "topology/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/classify.hpp"

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
    return gpu;
}

void add_links(const NvmlGpu &raw, std::vector<Gpu> &gpus, Gpu &gpu) {
    for (const NvmlLink &link : raw.links) {
        NvLink result{link.index, link.active, link.version, link.mbps, FarEnd::unknown, -1};
        if (link.active) {
            result.peer_gpu = gpu_at(gpus, link.remote);
            result.far_end = classify_far_end(link, result.peer_gpu);
        }
        gpu.nvlinks.push_back(result);
    }
}

/// The entry of a CUDA device: one at its PCI address that no other ordinal has taken, else a new one (a further slice
/// of a GPU, or a GPU that NVML did not show).
Gpu &entry_for(const CudaDevice &device, std::vector<Gpu> &gpus) {
    for (Gpu &gpu : gpus)
        if (device.pci && gpu.pci.known() && gpu.pci.value == *device.pci && !gpu.cuda_ordinal.known()) return gpu;
    Gpu gpu;
    if (int sibling = gpu_at(gpus, device.pci); sibling >= 0) {
        gpu.numa_node = gpus[static_cast<std::size_t>(sibling)].numa_node;
        gpu.mig = gpus[static_cast<std::size_t>(sibling)].mig;
    }
    if (!device.uuid.empty()) gpu.uuid = {gpu.mig ? "MIG" + device.uuid.substr(3) : device.uuid, Source::cuda};
    if (device.pci) gpu.pci = {*device.pci, Source::cuda};
    gpus.push_back(std::move(gpu));
    return gpus.back();
}

void add_cuda_device(const CudaDevice &device, std::vector<Gpu> &gpus) {
    Gpu &gpu = entry_for(device, gpus);
    gpu.cuda_ordinal = {device.ordinal, Source::cuda};
    if (gpu.name.empty()) gpu.name = device.name;
    if (!gpu.uuid.known() && !device.uuid.empty()) gpu.uuid = {device.uuid, Source::cuda};
    if (!gpu.numa_node.known() && device.host_numa) gpu.numa_node = {*device.host_numa, Source::cuda};
}

bool to_switch(const NvLink &link) {
    // A link that is up and whose end NVML does not tell leads to a switch on every machine known.
    return link.active && (link.far_end == FarEnd::nvswitch || link.far_end == FarEnd::hidden_switch ||
                           link.far_end == FarEnd::unknown);
}

int count_switch_links(const Gpu &gpu) {
    return static_cast<int>(std::count_if(gpu.nvlinks.begin(), gpu.nvlinks.end(), to_switch));
}

Known<int> slowest_link(const Gpu &gpu) {
    Known<int> slowest;
    for (const NvLink &link : gpu.nvlinks) {
        if (!link.active) continue;
        Known<int> speed{nominal_link_mbps(link.version), Source::table};
        if (speed.value == 0) speed = {link.reported_mbps, Source::nvml};
        if (speed.value == 0) return {};
        if (!slowest.known() || speed.value < slowest.value) slowest = speed;
    }
    return slowest;
}

PairFacts facts_of(const std::vector<Gpu> &gpus, std::size_t from, std::size_t to) {
    const Gpu &a = gpus[from], &b = gpus[to];
    PairFacts facts;
    facts.same_gpu = from == to;
    facts.same_device = a.pci.known() && b.pci.known() && a.pci.value == b.pci.value;
    auto count_to = [](const Gpu &gpu, std::size_t peer) {
        return std::count_if(gpu.nvlinks.begin(), gpu.nvlinks.end(), [peer](const NvLink &link) {
            return link.active && link.peer_gpu == static_cast<int>(peer);
        });
    };
    facts.direct_links = static_cast<int>(std::min(count_to(a, to), count_to(b, from)));
    facts.switch_links = std::min(count_switch_links(a), count_switch_links(b));
    auto hidden = [](const NvLink &link) { return link.active && link.far_end == FarEnd::hidden_switch; };
    facts.switch_hidden = std::any_of(a.nvlinks.begin(), a.nvlinks.end(), hidden);
    if (Known<int> mine = slowest_link(a), theirs = slowest_link(b); mine.known() && theirs.known()) {
        const Known<int> &slower = theirs.value < mine.value ? theirs : mine;
        facts.link_mbps = slower.value;
        facts.link_mbps_source = slower.source;
    }
    facts.numa_from = a.numa_node;
    facts.numa_to = b.numa_node;
    return facts;
}

Known<bool> permission(std::optional<P2pStatus> status) {
    if (!status || *status == P2pStatus::unknown) return {};
    return {*status == P2pStatus::ok, Source::nvml};
}

void restrict_by(Known<bool> &permission, std::optional<bool> cuda) {
    if (!cuda) return;
    if (!permission.known() || (permission.value && !*cuda)) permission = {*cuda, Source::cuda};
}

void add_pairs(const NvmlFacts &nvml, const CudaFacts &cuda, Snapshot &snapshot) {
    const std::size_t n = snapshot.gpus.size(), by_nvml = nvml.gpus.size(), by_cuda = cuda.devices.size();
    snapshot.pairs.reserve(n * n);
    for (std::size_t from = 0; from < n; ++from) {
        for (std::size_t to = 0; to < n; ++to) {
            PairFacts facts = facts_of(snapshot.gpus, from, to);
            NvmlPair answers;
            if (from < by_nvml && to < by_nvml && from != to && nvml.pairs.size() == by_nvml * by_nvml)
                answers = nvml.pairs[from * by_nvml + to];
            facts.nvlink = answers.nvlink;
            facts.ancestor = answers.ancestor;
            Pair pair = classify_pair(facts);
            pair.p2p_read = permission(answers.read);
            pair.p2p_write = permission(answers.write);
            pair.p2p_atomics = permission(answers.atomics);
            const Known<int> &a = snapshot.gpus[from].cuda_ordinal, &b = snapshot.gpus[to].cuda_ordinal;
            if (from != to && a.known() && b.known() && cuda.pairs.size() == by_cuda * by_cuda) {
                const CudaPair &word =
                    cuda.pairs[static_cast<std::size_t>(a.value) * by_cuda + static_cast<std::size_t>(b.value)];
                restrict_by(pair.p2p_read, word.access);
                restrict_by(pair.p2p_write, word.access);
                restrict_by(pair.p2p_atomics, word.atomics);
            }
            snapshot.pairs.push_back(std::move(pair));
        }
    }
}

void note_dead_links(Snapshot &snapshot) {
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index) {
        const auto &links = snapshot.gpus[index].nvlinks;
        auto active = std::count_if(links.begin(), links.end(), [](const NvLink &link) { return link.active; });
        if (active > 0 && static_cast<std::size_t>(active) < links.size())
            snapshot.gaps.push_back(
                fmt::format("only {} of the {} NVLinks of GPU {} are up", active, links.size(), index));
    }
}

void note_refused_nvlinks(const NvmlFacts &nvml, Snapshot &snapshot) {
    const std::size_t n = nvml.gpus.size();
    if (nvml.pairs.size() != n * n) return;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = from + 1; to < n; ++to) {
            PairFacts facts = facts_of(snapshot.gpus, from, to);
            const auto &nvlink = nvml.pairs[from * n + to].nvlink;
            if ((facts.direct_links > 0 || facts.switch_links > 0) && nvlink && *nvlink != P2pStatus::ok &&
                *nvlink != P2pStatus::unknown) {
                snapshot.gaps.push_back(
                    fmt::format("GPUs {} and {} have NVLinks that do not connect them: NVML says {}; is the fabric "
                                "manager running?",
                                from, to, p2p_status_name(*nvlink)));
                return;  // one line: a fabric that is down shows on every pair
            }
        }
}

}  // namespace

Snapshot assemble(const NvmlFacts &nvml, const CudaFacts &cuda) {
    Snapshot snapshot;
    if (!nvml.driver.empty()) snapshot.driver = {nvml.driver, Source::nvml};
    snapshot.cuda_driver_version = cuda.driver_version;
    snapshot.cuda_runtime_version = cuda.runtime_version;
    for (const NvmlGpu &raw : nvml.gpus) snapshot.gpus.push_back(from_nvml(raw));
    for (std::size_t index = 0; index < nvml.gpus.size(); ++index)
        add_links(nvml.gpus[index], snapshot.gpus, snapshot.gpus[index]);
    for (const CudaDevice &device : cuda.devices) add_cuda_device(device, snapshot.gpus);
    add_pairs(nvml, cuda, snapshot);

    if (!nvml.problem.empty()) snapshot.gaps.push_back(nvml.problem);
    snapshot.gaps.insert(snapshot.gaps.end(), nvml.gaps.begin(), nvml.gaps.end());
    if (!cuda.problem.empty()) snapshot.gaps.push_back(cuda.problem);
    note_dead_links(snapshot);
    note_refused_nvlinks(nvml, snapshot);
    return snapshot;
}

}  // namespace baton::topology
