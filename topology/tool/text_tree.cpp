#include <fmt/format.h>

#include <algorithm>

#include "topology/names.hpp"
#include "topology/tool/text.hpp"
#include "topology/tool/view.hpp"

namespace baton::topology {
namespace {

/// A line and what is under it.
struct Entry {
    std::string text;
    std::vector<Entry> below;
};

std::string speed_suffix(int mbps) { return mbps > 0 ? fmt::format(", PCIe {} GB/s", gbps_text(mbps)) : ""; }

std::string address_of(const Known<PciAddress> &pci) { return pci.known() ? "  " + to_string(pci.value) : ""; }

std::string far_end_text(const Snapshot &snapshot, const NvLink &link) {
    switch (link.far_end) {
        case FarEnd::gpu:
            return link.peer_gpu >= 0 ? fmt::format("GPU {}", link.peer_gpu) : "a GPU that is not here";
        case FarEnd::nvswitch:
            return snapshot.nvswitches.size() == 1 ? "an NVSwitch" : "NVSwitches";
        case FarEnd::hidden_switch:
            return "hidden NVSwitches";
        case FarEnd::cpu:
            return "the CPU";
        case FarEnd::unknown:
            break;
    }
    return "somewhere unknown";
}

/// "18 to hidden NVSwitches, 1 down"; "?" where only a sum over an unknown number of links is known.
std::string nvlinks_text(const Snapshot &snapshot, const Gpu &gpu) {
    struct End {
        std::string text;
        int links = 0;
        bool counted = true;
    };
    std::vector<End> ends;
    int down = 0;
    for (const NvLink &link : gpu.nvlinks) {
        if (!link.active) {
            ++down;
            continue;
        }
        const std::string end = far_end_text(snapshot, link);
        auto found = std::find_if(ends.begin(), ends.end(), [&](const End &one) { return one.text == end; });
        if (found == ends.end()) found = ends.insert(ends.end(), {.text = end});
        ++found->links;
        found->counted = found->counted && !is_sum_of_links(gpu, link);
    }
    std::string text;
    for (const End &end : ends)
        text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", end.counted ? std::to_string(end.links) : "?",
                            end.text);
    if (down > 0) text += fmt::format("{}{} down", text.empty() ? "" : ", ", down);
    return text.empty() ? "" : "; NVLinks: " + text;
}

std::string gpu_text(const Snapshot &snapshot, int index, int mbps) {
    if (snapshot.of_ranks.value) return fmt::format("rank {}", index);
    const Gpu &gpu = snapshot.gpus[static_cast<std::size_t>(index)];
    std::string text = fmt::format("GPU {}", index) + address_of(gpu.pci);
    if (!gpu.name.empty()) text += "  " + gpu.name;
    if (gpu.mig) text += " (MIG)";
    text += speed_suffix(mbps);
    if (gpu.c2c_links.known()) text += fmt::format("; {} NVLink-C2C to the CPU", gpu.c2c_links.value);
    return text + nvlinks_text(snapshot, gpu);
}

Entry branch_entry(const Snapshot &snapshot, const Branch &branch) {
    Entry entry;
    for (const Branch &child : branch.children) entry.below.push_back(branch_entry(snapshot, child));
    if (branch.gpus.size() == 1) {
        entry.text = gpu_text(snapshot, branch.gpus[0], branch.mbps);
    } else if (!branch.gpus.empty()) {
        entry.text = fmt::format("one GPU, {} slices{}", branch.gpus.size(), speed_suffix(branch.mbps));
        for (const int gpu : branch.gpus) entry.below.push_back({gpu_text(snapshot, gpu, 0), {}});
    } else if (!branch.nics.empty()) {
        for (const int index : branch.nics) {
            const Nic &nic = snapshot.nics[static_cast<std::size_t>(index)];
            entry.text += fmt::format("{}NIC {}{}  {} ({})", entry.text.empty() ? "" : "; ", index, address_of(nic.pci),
                                      nic.name, name_of(nic.kind));
        }
        entry.text += speed_suffix(branch.mbps);
    } else if (branch.nvswitch >= 0) {
        entry.text = fmt::format("NVSwitch {}{}", branch.nvswitch,
                                 address_of(snapshot.nvswitches[static_cast<std::size_t>(branch.nvswitch)].pci));
    } else {
        const PciNode &node = snapshot.pci[static_cast<std::size_t>(branch.pci_node)];
        entry.text = node.kind == PciKind::host_bridge ? "PCIe host bridge" : "PCIe switch";
        if (node.address) entry.text += "  " + to_string(*node.address);
        entry.text += speed_suffix(branch.mbps);
    }
    return entry;
}

bool any_gpu_without_node(const Snapshot &snapshot, const std::vector<Branch> &branches) {
    return std::any_of(branches.begin(), branches.end(), [&](const Branch &branch) {
        return any_gpu_without_node(snapshot, branch.children) ||
               std::any_of(branch.gpus.begin(), branch.gpus.end(),
                           [&](int gpu) { return !snapshot.gpus[static_cast<std::size_t>(gpu)].numa_node.known(); });
    });
}

/// Whether GPUs that do not tell their node are shown on the only one there is. (The matrix has N/A for them.)
bool assumed_for_gpus(const Snapshot &snapshot, const NodeView &node) {
    return only_numa_node(snapshot.host) != nullptr && node.os_index >= 0 &&
           any_gpu_without_node(snapshot, node.branches);
}

Entry node_entry(const Machine &machine, const NodeView &node) {
    const Snapshot &snapshot = machine.snapshot;
    Entry entry;
    entry.text = node.os_index >= 0 ? fmt::format("NUMA node {}", node.os_index) : "NUMA node unknown";
    if (!node.cpuset.empty()) entry.text += ": processors " + node.cpuset;
    if (node.memory_bytes > 0) entry.text += fmt::format(", {} GiB", node.memory_bytes >> 30U);
    if (assumed_for_gpus(snapshot, node))
        entry.text += fmt::format(" (assumed for the {}s: the only one)", noun_of(machine));
    for (const Branch &branch : node.branches) entry.below.push_back(branch_entry(snapshot, branch));
    return entry;
}

void print(const Entry &entry, const std::string &indent, std::string &text) {
    for (std::size_t index = 0; index < entry.below.size(); ++index) {
        const bool last = index + 1 == entry.below.size();
        text += fmt::format("{}{}{}\n", indent, last ? "`- " : "|- ", entry.below[index].text);
        print(entry.below[index], indent + (last ? "   " : "|  "), text);
    }
}

}  // namespace

std::string tree_text(const Machine &machine) {
    const Snapshot &snapshot = machine.snapshot;
    Entry root{"Machine: " + host_text(snapshot), {}};
    for (const SocketView &socket : view_of(snapshot)) {
        Entry *parent = &root;
        if (socket.index >= 0) {
            root.below.push_back({fmt::format("Socket {}", socket.index), {}});
            parent = &root.below.back();
        }
        for (const NodeView &node : socket.nodes) parent->below.push_back(node_entry(machine, node));
    }
    for (std::size_t index = 0; index < snapshot.nvswitches.size(); ++index)
        if (snapshot.nvswitches[index].pci_node < 0)
            root.below.push_back({fmt::format("NVSwitch {}{}", index, address_of(snapshot.nvswitches[index].pci)), {}});
    std::string text = root.text + "\n";
    print(root, "", text);
    return text;
}

}  // namespace baton::topology
