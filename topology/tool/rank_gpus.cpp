#include "topology/tool/rank_gpus.hpp"

#include <fmt/format.h>

#include <sstream>

#include "topology/limits.hpp"
#include "topology/printable.hpp"
#include "util/failure.hpp"

namespace baton::topology {
namespace {

/// The entry with this UUID, else one with this address if its UUID or the one told is unknown.
int find(const RankGpu &told, const Snapshot &snapshot) {
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index)
        if (const auto &uuid = snapshot.gpus[index].uuid; uuid.known() && same_uuid(uuid.value, told.uuid))
            return static_cast<int>(index);
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index) {
        const Gpu &gpu = snapshot.gpus[index];
        if ((told.uuid.empty() || !gpu.uuid.known()) && gpu.pci.known() && gpu.pci.value == told.pci)
            return static_cast<int>(index);
    }
    return -1;
}

/// Adds what the PCI tree knows of where the GPU is.
void place(Gpu &gpu, const Snapshot &snapshot) {
    for (std::size_t index = 0; index < snapshot.pci.size(); ++index) {
        if (!gpu.pci.known() || snapshot.pci[index].address != gpu.pci.value) continue;
        gpu.pci_node = static_cast<int>(index);
        const PciNode &at = snapshot.pci[static_cast<std::size_t>(pci_root_of(snapshot, gpu.pci_node))];
        if (at.numa_nodes.size() == 1) gpu.numa_node = {at.numa_nodes[0], snapshot.pci_source};
        if (!at.cpuset.empty()) gpu.cpuset = {at.cpuset, snapshot.pci_source};
    }
}

int add(const RankGpu &told, Snapshot &snapshot) {
    const std::size_t before = snapshot.gpus.size(), after = before + 1;
    Gpu gpu;
    gpu.name = printable(told.name);
    gpu.uuid = {printable(told.uuid), Source::cuda};
    if (told.pci) gpu.pci = {*told.pci, Source::cuda};
    place(gpu, snapshot);
    for (Gpu &other : snapshot.gpus) {
        if (!told.pci || !other.pci.known() || other.pci.value != *told.pci) continue;
        gpu.mig = other.mig = true;  // two UUIDs at one address
        if (!gpu.numa_node.known()) gpu.numa_node = other.numa_node;
        if (!gpu.cpuset.known()) gpu.cpuset = other.cpuset;
    }
    std::vector<PairFacts> pairs(after * after);
    for (std::size_t from = 0; from < before; ++from)
        for (std::size_t to = 0; to < before; ++to) pairs[from * after + to] = snapshot.pair(from, to);
    snapshot.pairs = std::move(pairs);
    snapshot.gpus.push_back(std::move(gpu));
    return static_cast<int>(before);
}

}  // namespace

std::string to_line(const RankGpu &told) {
    return fmt::format("{} {} {} {}", told.local_rank, told.uuid.empty() ? "-" : told.uuid,
                       told.pci ? to_string(*told.pci) : "-", told.name);
}

RankGpu rank_gpu_from(const std::string &line) {
    RankGpu told;
    std::istringstream words(line);
    std::string pci;
    words >> told.local_rank >> told.uuid >> pci >> std::ws;
    std::getline(words, told.name);
    if (told.uuid == "-") told.uuid.clear();
    told.pci = parse_pci_address(pci);
    return told;
}

void require_one_host(const std::vector<RankGpu> &ranks) {
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
        if (ranks[rank].local_rank == 0)  // the first one of a host
            core::fail(BATON_ERR_ARGUMENT,
                       "rank {} is on another host than rank 0, and one machine is shown: start the ranks of one host",
                       rank);
}

std::vector<int> find_or_add_gpus(const std::vector<RankGpu> &ranks, Snapshot &snapshot) {
    std::vector<int> gpus;
    for (const RankGpu &told : ranks) {
        int gpu = told.uuid.empty() && !told.pci ? -1 : find(told, snapshot);
        // Where an override has put ranks in the place of GPUs, they have none of these names, and no GPU is added
        // beside them.
        if (gpu < 0 && !told.uuid.empty() && !snapshot.of_ranks.value && snapshot.gpus.size() < max_gpus)
            gpu = add(told, snapshot);
        gpus.push_back(gpu);
    }
    return gpus;
}

}  // namespace baton::topology
