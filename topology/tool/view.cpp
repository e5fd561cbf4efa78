#include "topology/tool/view.hpp"

#include <algorithm>
#include <optional>

#include "topology/index_set.hpp"

namespace baton::topology {
namespace {

int slower(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

Branch device(const Snapshot &snapshot, int node) {
    Branch branch;
    branch.kind = snapshot.pci[static_cast<std::size_t>(node)].kind;
    branch.pci_node = node;
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index)
        if (snapshot.gpus[index].pci_node == node) branch.gpus.push_back(static_cast<int>(index));
    for (std::size_t index = 0; index < snapshot.nics.size(); ++index)
        if (snapshot.nics[index].pci_node == node) branch.nics.push_back(static_cast<int>(index));
    for (std::size_t index = 0; index < snapshot.nvswitches.size(); ++index)
        if (snapshot.nvswitches[index].pci_node == node) branch.nvswitch = static_cast<int>(index);
    if (!branch.gpus.empty()) {
        branch.kind = PciKind::gpu;
    } else if (!branch.nics.empty()) {
        branch.kind = PciKind::nic;
    } else if (branch.nvswitch >= 0) {
        branch.kind = PciKind::nvswitch;
    }
    return branch;
}

bool functions_of_one(const Snapshot &snapshot, const Branch &a, const Branch &b) {
    const auto &left = snapshot.pci[static_cast<std::size_t>(a.pci_node)].address;
    const auto &right = snapshot.pci[static_cast<std::size_t>(b.pci_node)].address;
    return left && right && left->domain == right->domain && left->bus == right->bus && left->device == right->device;
}

/// The ports of one network card are one branch.
void join_ports(const Snapshot &snapshot, std::vector<Branch> &children) {
    for (std::size_t index = 1; index < children.size();) {
        Branch &before = children[index - 1], &here = children[index];
        if (!before.nics.empty() && !here.nics.empty() && functions_of_one(snapshot, before, here)) {
            before.nics.insert(before.nics.end(), here.nics.begin(), here.nics.end());
            children.erase(children.begin() + static_cast<std::ptrdiff_t>(index));
        } else {
            ++index;
        }
    }
}

/// What is shown of a PCI object, given what is shown below it; empty for nothing.
std::optional<Branch> branch_of(const Snapshot &snapshot, int node, std::vector<Branch> children) {
    Branch branch = device(snapshot, node);
    const Known<int> &mbps = snapshot.pci[static_cast<std::size_t>(node)].mbps;
    branch.mbps = mbps.known() ? mbps.value : 0;
    join_ports(snapshot, children);
    branch.children = std::move(children);
    if (!branch.gpus.empty() || !branch.nics.empty() || branch.nvswitch >= 0) return branch;
    if (branch.children.empty()) return std::nullopt;
    if (branch.children.size() > 1) return branch;
    Branch only = std::move(branch.children[0]);
    only.mbps = slower(only.mbps, branch.mbps);
    return only;
}

/// (root, what is shown of its tree). Goes up from the leaves, without recursion, since parents come before children.
std::vector<std::pair<int, Branch>> trees(const Snapshot &snapshot) {
    std::vector<std::vector<Branch>> below(snapshot.pci.size());
    std::vector<std::pair<int, Branch>> roots;
    for (std::size_t index = snapshot.pci.size(); index-- > 0;) {
        std::reverse(below[index].begin(), below[index].end());
        auto branch = branch_of(snapshot, static_cast<int>(index), std::move(below[index]));
        if (!branch) continue;
        const int parent = snapshot.pci[index].parent;
        if (parent < 0) {
            roots.emplace_back(static_cast<int>(index), std::move(*branch));
        } else {
            below[static_cast<std::size_t>(parent)].push_back(std::move(*branch));
        }
    }
    std::reverse(roots.begin(), roots.end());
    return roots;
}

NodeView &node_in(SocketView &socket, int os_index) {
    for (NodeView &node : socket.nodes)
        if (node.os_index == os_index) return node;
    NodeView fresh;
    fresh.os_index = os_index;
    socket.nodes.push_back(std::move(fresh));
    return socket.nodes.back();
}

bool has_all(const SocketView &socket, const std::vector<int> &os_indices) {
    return std::all_of(os_indices.begin(), os_indices.end(), [&](int os_index) {
        return std::any_of(socket.nodes.begin(), socket.nodes.end(),
                           [os_index](const NodeView &node) { return node.os_index == os_index; });
    });
}

/// The node that a GPU, NIC or tree hangs at, made when it is needed. Without a node of its own (-1) it may be `near`
/// several nodes of one socket.
NodeView &node_for(std::vector<SocketView> &sockets, int os_index, const std::vector<int> &near = {}) {
    const std::vector<int> wanted = os_index >= 0 ? std::vector<int>{os_index} : near;
    for (SocketView &socket : sockets)
        if (!wanted.empty() && has_all(socket, wanted)) return node_in(socket, os_index);
    if (sockets.empty() || sockets.back().index >= 0) sockets.push_back({-1, {}});
    return node_in(sockets.back(), os_index);
}

std::vector<SocketView> empty_sockets(const Host &host) {
    std::vector<SocketView> sockets;
    std::vector<IndexSet> packages;
    for (const Package &package : host.package_list) {
        sockets.push_back({static_cast<int>(packages.size()), {}});
        packages.push_back(IndexSet::from_list_or_empty(package.cpuset));
    }
    for (const NumaNode &node : host.numa_list) {
        const IndexSet own = IndexSet::from_list_or_empty(node.cpuset);
        if (own.empty()) continue;  // memory without processors, as a GPU's, is no place where devices hang
        const NodeView view{node.os_index, node.cpuset, node.memory_bytes, {}};
        const auto package =
            std::find_if(packages.begin(), packages.end(), [&](const IndexSet &one) { return one.intersects(own); });
        const auto index = static_cast<std::size_t>(package - packages.begin());
        if (package == packages.end()) {
            node_for(sockets, node.os_index) = view;
        } else {
            sockets[index].nodes.push_back(view);
        }
    }
    std::erase_if(sockets, [](const SocketView &socket) { return socket.nodes.empty(); });
    return sockets;
}

/// The node that a device belongs to: its own; if that is not known, the only one of the machine; else -1.
int place_of(const Known<int> &numa_node, const Host &host) {
    if (numa_node.known()) return numa_node.value;
    const NumaNode *only = only_numa_node(host);
    return only != nullptr ? only->os_index : -1;
}

int node_of_root(const PciNode &root, const Host &host) {
    return root.numa_nodes.size() == 1 ? root.numa_nodes[0] : place_of({}, host);
}

int node_of_tree(const Snapshot &snapshot, int root, const Branch &branch) {
    const int node = node_of_root(snapshot.pci[static_cast<std::size_t>(root)], snapshot.host);
    if (node >= 0) return node;
    // The devices may know what the root does not.
    for (const int gpu : branch.gpus)
        if (const auto &known = snapshot.gpus[static_cast<std::size_t>(gpu)].numa_node; known.known())
            return known.value;
    for (const Branch &child : branch.children)
        if (const int below = node_of_tree(snapshot, root, child); below >= 0) return below;
    return -1;
}

/// Finds, among devices that are not in the PCI tree, the GPU that this one is a slice of; null if there is none.
Branch *slices_of(const Snapshot &snapshot, const Gpu &slice, std::vector<Branch> &branches) {
    for (Branch &branch : branches) {
        if (branch.pci_node >= 0 || branch.gpus.empty()) continue;
        const Gpu &other = snapshot.gpus[static_cast<std::size_t>(branch.gpus[0])];
        if (slice.pci.known() && other.pci.known() && slice.pci.value == other.pci.value) return &branch;
    }
    return nullptr;
}

}  // namespace

std::vector<SocketView> view_of(const Snapshot &snapshot) {
    std::vector<SocketView> sockets = empty_sockets(snapshot.host);
    for (auto &[root, branch] : trees(snapshot)) {
        const std::vector<int> &near = snapshot.pci[static_cast<std::size_t>(root)].numa_nodes;
        NodeView &node = node_for(sockets, node_of_tree(snapshot, root, branch), near);
        node.branches.push_back(std::move(branch));
    }
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index) {
        const Gpu &gpu = snapshot.gpus[index];
        if (gpu.pci_node >= 0) continue;
        NodeView &node = node_for(sockets, place_of(gpu.numa_node, snapshot.host));
        if (Branch *whole = slices_of(snapshot, gpu, node.branches)) {
            whole->gpus.push_back(static_cast<int>(index));
            continue;
        }
        Branch branch;
        branch.kind = PciKind::gpu;
        branch.gpus = {static_cast<int>(index)};
        node.branches.push_back(std::move(branch));
    }
    for (std::size_t index = 0; index < snapshot.nics.size(); ++index) {
        const Nic &nic = snapshot.nics[index];
        if (nic.pci_node >= 0) continue;
        NodeView &node = node_for(sockets, place_of(nic.numa_node, snapshot.host));
        Branch branch;
        branch.kind = PciKind::nic;
        branch.nics = {static_cast<int>(index)};
        node.branches.push_back(std::move(branch));
    }
    return sockets;
}

std::vector<Branch> without_switches(const std::vector<Branch> &branches) {
    std::vector<Branch> result;
    for (const Branch &branch : branches) {
        // What a file calls an NVSwitch may be a bridge with devices below it.
        if (branch.kind == PciKind::nvswitch && branch.children.empty()) continue;
        Branch copy = branch;
        copy.children = without_switches(branch.children);
        const bool device = !copy.gpus.empty() || !copy.nics.empty();
        if (device || copy.children.size() > 1) {
            result.push_back(std::move(copy));
        } else if (copy.children.size() == 1) {
            Branch only = std::move(copy.children[0]);
            only.mbps = slower(only.mbps, copy.mbps);
            result.push_back(std::move(only));
        }
    }
    return result;
}

}  // namespace baton::topology
