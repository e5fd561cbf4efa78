#include "topology/processor_tree.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace baton::topology {
namespace {

IndexSet all_pus_of(const Snapshot &snapshot) {
    IndexSet all;
    for (const Package &package : snapshot.host.package_list) all.insert(IndexSet::from_list_or_empty(package.cpuset));
    for (const NumaNode &node : snapshot.host.numa_list) all.insert(IndexSet::from_list_or_empty(node.cpuset));
    for (const std::string &core : snapshot.host.core_list) all.insert(IndexSet::from_list_or_empty(core));
    for (const PciNode &node : snapshot.pci) all.insert(IndexSet::from_list_or_empty(node.cpuset));
    if (snapshot.host.restriction) all.insert(IndexSet::from_list_or_empty(snapshot.host.restriction->usable_pus));
    if (all.empty()) all.insert(0);
    return all;
}

std::vector<ProcessorPart> packages_of(const Snapshot &snapshot, const IndexSet &all) {
    std::vector<ProcessorPart> packages;
    IndexSet covered;
    bool partition = true;
    for (const Package &package : snapshot.host.package_list) {
        const IndexSet pus = IndexSet::from_list_or_empty(package.cpuset);
        partition = partition && !pus.empty() && !pus.intersects(covered);
        covered.insert(pus);
        packages.push_back({"Package", -1, pus, {}, {}});
    }
    if (!partition || !(covered == all)) packages = {{"Package", -1, all, {}, {}}};
    std::sort(packages.begin(), packages.end(),
              [](const ProcessorPart &a, const ProcessorPart &b) { return a.pus.lowest() < b.pus.lowest(); });
    for (std::size_t index = 0; index < packages.size(); ++index) packages[index].os_index = static_cast<int>(index);
    return packages;
}

/// Hangs the node where it belongs: at the package that has the same processors, in a group within a package, else at
/// the machine.
void add_node(const NumaNode &node, ProcessorPart &machine) {
    const IndexSet near = IndexSet::from_list_or_empty(node.cpuset);
    for (ProcessorPart &package : machine.children) {
        if (near.empty() || !package.pus.contains(near)) continue;
        const auto beside = std::find_if(package.children.begin(), package.children.end(),
                                         [&](const ProcessorPart &group) { return group.pus == near; });
        if (near == package.pus)
            package.memory.push_back(node);
        else if (beside != package.children.end())
            beside->memory.push_back(node);
        else
            package.children.push_back({"Group", -1, near, {node}, {}});
        return;
    }
    machine.memory.push_back(node);
}

/// The hidden nodes that some PCI tree is near. No object tells their processors, so a node gets the smallest processor
/// set among these trees.
std::vector<NumaNode> hidden_nodes_of(const Snapshot &snapshot) {
    std::map<int, IndexSet> near;
    for (const PciNode &root : snapshot.pci) {
        if (root.parent >= 0 || root.cpuset.empty()) continue;
        const IndexSet pus = IndexSet::from_list_or_empty(root.cpuset);
        for (const int node : root.numa_nodes)
            if (is_hidden(snapshot, node))
                if (const auto [known, fresh] = near.insert({node, pus}); !fresh && known->second.contains(pus))
                    known->second = pus;
    }
    std::vector<NumaNode> nodes;
    for (const auto &[node, pus] : near) nodes.push_back({node, pus.to_list(), 0});
    return nodes;
}

/// The NUMA nodes that fit into a tree. A node does not fit if
/// - another one has the same number, or
/// - it shares processors with another one, unless it has exactly those of a whole part: of the machine, a package, or
///   another node (HBM beside DRAM).
std::vector<NumaNode> nodes_that_fit(const Snapshot &snapshot, const ProcessorPart &machine) {
    std::vector<NumaNode> nodes;
    std::vector<IndexSet> parts{machine.pus};
    for (const ProcessorPart &package : machine.children) parts.push_back(package.pus);
    IndexSet numbers, covered;
    const auto add = [&](const NumaNode &node) {
        const IndexSet near = IndexSet::from_list_or_empty(node.cpuset);
        IndexSet number;
        if (node.os_index < 0) return;
        number.insert(node.os_index);
        const bool whole_part = std::find(parts.begin(), parts.end(), near) != parts.end();
        if (number.intersects(numbers) || (near.intersects(covered) && !whole_part)) return;
        numbers.insert(number);
        if (!whole_part) {
            covered.insert(near);
            parts.push_back(near);
        }
        nodes.push_back(node);
    };
    for (const NumaNode &node : snapshot.host.numa_list) add(node);
    if (nodes.empty()) add({0, machine.pus.to_list(), 0});
    for (const NumaNode &node : hidden_nodes_of(snapshot)) add(node);
    std::sort(nodes.begin(), nodes.end(),  // as hwloc wants the memories of a part
              [](const NumaNode &one, const NumaNode &other) { return one.os_index < other.os_index; });
    return nodes;
}

/// The smallest part that holds each processing unit.
using Owners = std::map<int, ProcessorPart *>;

void find_owners(ProcessorPart &part, Owners &owners) {
    for (const int pu : part.pus.members()) owners[pu] = &part;
    for (ProcessorPart &child : part.children) find_owners(child, owners);
}

ProcessorPart leaf(int pu) {
    ProcessorPart part{"PU", pu, {}, {}, {}};
    part.pus.insert(pu);
    return part;
}

using Leaves = std::map<ProcessorPart *, std::vector<ProcessorPart>>;

/// From the bottom up, since growing a part's children moves them.
void attach(Leaves &leaves, ProcessorPart &part) {
    for (ProcessorPart &child : part.children) attach(leaves, child);
    std::vector<ProcessorPart> &own = leaves[&part];
    part.children.insert(part.children.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
}

/// Adds cores, and processing units that are in no core, of those that this process may use: hwloc shows no others. A
/// core that does not lie within one part is left out.
void add_cores(const Snapshot &snapshot, ProcessorPart &machine) {
    const IndexSet usable = usable_of(snapshot, machine.pus);
    Owners owners;
    find_owners(machine, owners);
    Leaves leaves;  // collected first, since owners point into the tree
    int number = 0;
    for (const std::string &list : snapshot.host.core_list) {
        ProcessorPart core{"Core", number, IndexSet::from_list_or_empty(list), {}, {}};
        const std::vector<int> pus = core.pus.members();
        if (!usable.intersects(core.pus) || !owners.contains(pus[0])) continue;
        ProcessorPart *owner = owners[pus[0]];
        const bool within = std::all_of(pus.begin(), pus.end(), [&](int pu) {
            const auto found = owners.find(pu);
            return found != owners.end() && found->second == owner;
        });
        if (!within) continue;
        for (const int pu : pus) {
            if (ProcessorPart own = leaf(pu); usable.contains(own.pus)) core.children.push_back(std::move(own));
            owners.erase(pu);
        }
        leaves[owner].push_back(std::move(core));
        ++number;
    }
    for (const auto &[pu, owner] : owners)
        if (ProcessorPart own = leaf(pu); usable.contains(own.pus)) leaves[owner].push_back(std::move(own));
    attach(leaves, machine);
}

void sort_children(ProcessorPart &part) {
    std::sort(part.children.begin(), part.children.end(),
              [](const ProcessorPart &a, const ProcessorPart &b) { return a.pus.lowest() < b.pus.lowest(); });
    for (ProcessorPart &child : part.children) sort_children(child);
}

}  // namespace

ProcessorPart processor_tree(const Snapshot &snapshot) {
    ProcessorPart machine{"Machine", 0, all_pus_of(snapshot), {}, {}};
    machine.children = packages_of(snapshot, machine.pus);
    for (const NumaNode &node : nodes_that_fit(snapshot, machine)) add_node(node, machine);
    add_cores(snapshot, machine);
    sort_children(machine);
    return machine;
}

IndexSet usable_of(const Snapshot &snapshot, const IndexSet &pus) {
    if (!snapshot.host.restriction) return pus;
    return pus.intersection(IndexSet::from_list_or_empty(snapshot.host.restriction->usable_pus));
}

bool is_hidden(const Snapshot &snapshot, int numa_node) {
    if (!snapshot.host.restriction) return false;
    const std::vector<int> &hidden = snapshot.host.restriction->hidden_nodes;
    return std::binary_search(hidden.begin(), hidden.end(), numa_node);
}

IndexSet numa_nodes_of(const ProcessorPart &part) {
    IndexSet nodes;
    for (const NumaNode &node : part.memory) nodes.insert(node.os_index);
    for (const ProcessorPart &child : part.children) nodes.insert(numa_nodes_of(child));
    return nodes;
}

}  // namespace baton::topology
