#include "topology/pci_path.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace baton::topology {
namespace {

/// The node and all nodes above it, the root last.
std::vector<int> line_to_root(const Snapshot &snapshot, int node) {
    std::vector<int> line;
    for (; node >= 0; node = snapshot.pci[static_cast<std::size_t>(node)].parent) line.push_back(node);
    return line;
}

const PciNode &at(const Snapshot &snapshot, int node) { return snapshot.pci[static_cast<std::size_t>(node)]; }

/// A path through one switch passes three ports: down, up and down again.
constexpr int ports_through_switch = 3;

PciPath within_a_tree(const Snapshot &snapshot, int ancestor, const std::vector<int> &between) {
    PciPath path;
    if (at(snapshot, ancestor).kind == PciKind::host_bridge) {
        path.kind = LinkKind::PHB;
        path.why = "a PCIe host bridge between them";
        return path;
    }
    int ports = 0;
    for (const int node : between) ports += at(snapshot, node).kind == PciKind::pci_switch ? ports_through_switch : 1;
    path.kind = ports <= ports_through_switch ? LinkKind::PIX : LinkKind::PXB;
    path.why = path.kind == LinkKind::PIX ? "one PCIe switch between them" : "several PCIe switches between them";
    return path;
}

PciPath between_trees(const Snapshot &snapshot, const PciNode &a, const PciNode &b) {
    PciPath path;
    const bool placed = !a.numa_nodes.empty() && !b.numa_nodes.empty();
    if (placed && a.numa_nodes == b.numa_nodes) {
        path.kind = LinkKind::NODE;
        path.why = a.numa_nodes.size() == 1 ? "PCIe host bridges of one NUMA node"
                                            : "PCIe host bridges near the same NUMA nodes";
    } else if (only_numa_node(snapshot.host) != nullptr || (!placed && !a.cpuset.empty() && a.cpuset == b.cpuset)) {
        path.kind = LinkKind::NODE;
        path.why = "PCIe host bridges near the same processors";
    } else {
        path.kind = LinkKind::SYS;
        path.why = placed ? "PCIe host bridges of different NUMA nodes"
                          : "different PCIe host bridges; their NUMA nodes are unknown";
    }
    return path;
}

}  // namespace

std::optional<PciPath> find_pci_path(const Snapshot &snapshot, int from, int to) {
    if (from < 0 || to < 0) return std::nullopt;
    std::vector<int> a = line_to_root(snapshot, from), b = line_to_root(snapshot, to);
    const int root_a = a.back(), root_b = b.back();
    int ancestor = -1;
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
        ancestor = a.back();
        a.pop_back();
        b.pop_back();
    }
    PciPath path;
    if (from == to) {
        path.kind = LinkKind::SELF;
        path.source = snapshot.pci_source;
        return path;
    }
    // The rest of both lines hangs below the ancestor; its links are those of the path.
    std::vector<int> below = a;
    below.insert(below.end(), b.begin(), b.end());
    std::vector<int> between = below;
    if (ancestor >= 0) between.push_back(ancestor);
    std::erase_if(between, [=](int node) { return node == from || node == to; });

    path = ancestor >= 0 ? within_a_tree(snapshot, ancestor, between)
                         : between_trees(snapshot, at(snapshot, root_a), at(snapshot, root_b));
    path.source = snapshot.pci_source;
    path.hops = static_cast<int>(between.size());
    for (const int node : below)
        if (const Known<int> &link = at(snapshot, node).mbps;
            link.known() && (!path.mbps.known() || link.value < path.mbps.value))
            path.mbps = link;
    return path;
}

}  // namespace baton::topology
