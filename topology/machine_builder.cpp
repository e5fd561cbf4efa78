#include "topology/machine_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "topology/limits.hpp"
#include "topology/pci_ids.hpp"
#include "topology/printable.hpp"

namespace baton::topology {
namespace {

auto sort_key(const Known<PciAddress> &pci) {
    return std::tuple(!pci.known(), pci.value.domain, pci.value.bus, pci.value.device, pci.value.function);
}

template <class Device>
void sort_by_address(std::vector<Device> &devices) {
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device &a, const Device &b) { return sort_key(a.pci) < sort_key(b.pci); });
}

template <class Device>
int index_at(const std::vector<Device> &devices, int node) {
    for (std::size_t index = 0; node >= 0 && index < devices.size(); ++index)
        if (devices[index].pci_node == node) return static_cast<int>(index);
    return -1;
}

/// Where on a machine devices can be: NUMA nodes with processors of their own.
/// - Memory without processors (a GPU's), or beside the processors of several other nodes (CXL's), is no site.
/// - Of several memories beside the same processors (HBM beside DRAM) the first stands for all.
class Sites {
public:
    explicit Sites(const std::vector<NumaNode> &nodes) {
        std::vector<IndexSet> all;
        for (const NumaNode &node : nodes) all.push_back(IndexSet::from_list_or_empty(node.cpuset));
        for (std::size_t index = 0; index < nodes.size(); ++index) {
            const NumaNode &node = nodes[index];
            const IndexSet processors = covers_others(all, index) ? IndexSet() : all[index];
            const auto same = std::find_if(sites_.begin(), sites_.end(), [&](const Site &site) {
                return !processors.empty() && site.processors == processors;
            });
            site_of_[node.os_index] = same != sites_.end() ? same->os_index : node.os_index;
            if (processors.empty())
                memory_only_.insert(node.os_index);
            else if (same == sites_.end())
                sites_.push_back({node.os_index, processors});
        }
    }

    std::size_t count() const { return sites_.size(); }

    std::vector<int> near(const IndexSet &processors) const {
        std::vector<int> result;
        for (const Site &site : sites_)
            if (processors.intersects(site.processors)) result.push_back(site.os_index);
        return result;
    }

    /// The sites of the nodes that a file states; the nodes themselves if they are memory only.
    std::vector<int> of_nodes(const std::vector<int> &stated) const {
        std::set<int> result;
        for (const int os_index : stated)
            if (!memory_only_.contains(os_index))
                result.insert(site_of_.contains(os_index) ? site_of_.at(os_index) : os_index);
        return result.empty() ? stated : std::vector<int>(result.begin(), result.end());
    }

private:
    struct Site {
        int os_index = 0;
        IndexSet processors;
    };
    static bool covers_others(const std::vector<IndexSet> &all, std::size_t index) {
        return std::any_of(all.begin(), all.end(), [&](const IndexSet &other) {
            return !other.empty() && other != all[index] && all[index].contains(other);
        });
    }
    std::vector<Site> sites_;
    std::map<int, int> site_of_;
    std::set<int> memory_only_;
};

}  // namespace

std::optional<int> MachineBuilder::add_pci(PciNode node) {
    if (snapshot.pci.size() >= max_pci_nodes) return std::nullopt;
    snapshot.pci.push_back(std::move(node));
    return static_cast<int>(snapshot.pci.size()) - 1;
}

Nic &MachineBuilder::add_nic(int pci_node) {
    Nic &nic = add_device(snapshot.nics, pci_node);
    const std::uint32_t class_id = snapshot.pci[static_cast<std::size_t>(pci_node)].class_id;
    nic.kind = class_id == class_infiniband ? NicKind::infiniband
               : class_id == class_ethernet ? NicKind::ethernet
                                            : NicKind::other;
    return nic;
}

void MachineBuilder::pass_over(const char *devices, std::size_t most) {
    const std::string gap = fmt::format("more than {} {}: the others are passed over", most, devices);
    if (std::find(snapshot.gaps.begin(), snapshot.gaps.end(), gap) == snapshot.gaps.end()) snapshot.gaps.push_back(gap);
}

IndexSet MachineBuilder::pus_of_parts() const {
    IndexSet pus;
    const auto add = [&](const auto &part) { pus.insert(IndexSet::from_list_or_empty(part.cpuset)); };
    std::for_each(snapshot.host.package_list.begin(), snapshot.host.package_list.end(), add);
    std::for_each(snapshot.host.numa_list.begin(), snapshot.host.numa_list.end(), add);
    return pus;
}

void MachineBuilder::find_restriction() {
    Host &host = snapshot.host;
    IndexSet nodes, near_nodes;
    for (const NumaNode &node : host.numa_list) {
        nodes.insert(node.os_index);
        near_nodes.insert(IndexSet::from_list_or_empty(node.cpuset));
    }
    Restriction found;
    const std::vector<int> all = all_nodes_.members(), seen = nodes.members();
    std::set_difference(all.begin(), all.end(), seen.begin(), seen.end(), std::back_inserter(found.hidden_nodes));
    if (found.hidden_nodes.size() > max_numa_nodes) found.hidden_nodes.clear();  // more than any machine has
    if (!all_pus_.empty() && near_nodes.contains(all_pus_)) hidden_memory_ = std::exchange(found.hidden_nodes, {});
    if (usable_pus_.empty() || (found.hidden_nodes.empty() && usable_pus_.contains(pus_of_parts()))) return;
    found.usable_pus = usable_pus_.to_list();
    host.restriction = std::move(found);
}

/// A root that is near all of several NUMA nodes says nothing: in virtual machines whose firmware does not tell the
/// node, roots hang at the whole machine.
void MachineBuilder::place_roots() {
    std::vector<NumaNode> &nodes = snapshot.host.numa_list;
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const NumaNode &a, const NumaNode &b) { return a.os_index < b.os_index; });
    const Sites sites(nodes);
    const auto &restriction = snapshot.host.restriction;
    const std::size_t places = sites.count() + (restriction ? restriction->hidden_nodes.size() : 0);
    for (PciNode &root : snapshot.pci) {
        if (root.parent >= 0) continue;
        std::erase_if(root.numa_nodes,
                      [&](int node) { return std::binary_search(hidden_memory_.begin(), hidden_memory_.end(), node); });
        root.numa_nodes = root.numa_nodes.empty() ? sites.near(IndexSet::from_list_or_empty(root.cpuset))
                                                  : sites.of_nodes(root.numa_nodes);
        if (places > 1 && root.numa_nodes.size() >= places) {
            root.numa_nodes.clear();
            root.cpuset.clear();
        }
    }
}

void MachineBuilder::place_devices() {
    const auto place = [&](auto &device) {
        const int root = pci_root_of(snapshot, device.pci_node);
        if (root < 0) return;
        const PciNode &at = snapshot.pci[static_cast<std::size_t>(root)];
        if (at.numa_nodes.size() == 1 && !device.numa_node.known()) device.numa_node = {at.numa_nodes[0], source_};
        if constexpr (requires { device.cpuset; }) {
            if (!at.cpuset.empty()) device.cpuset = {at.cpuset, source_};
        }
    };
    for (Gpu &gpu : snapshot.gpus) place(gpu);
    for (Nic &nic : snapshot.nics) place(nic);
}

void MachineBuilder::resolve_links() {
    for (const Links &links : links_) {
        const int from = index_at(snapshot.gpus, links.from_node);
        if (from < 0) continue;
        Gpu &gpu = snapshot.gpus[static_cast<std::size_t>(from)];
        gpu.nvlink_source = source_;
        NvLink link;
        link.active = true;
        link.version = links.version;
        link.reported_mbps = links.mbps;
        link.far_end = links.far_end;
        link.peer_gpu = index_at(snapshot.gpus, links.to_node);
        link.peer_switch = index_at(snapshot.nvswitches, links.to_node);
        if (link.peer_gpu >= 0) link.far_end = FarEnd::gpu;
        if (link.peer_switch >= 0) link.far_end = FarEnd::nvswitch;
        for (int index = 0; index < links.count && gpu.nvlinks.size() < max_links; ++index) {
            link.index = static_cast<int>(gpu.nvlinks.size());
            gpu.nvlinks.push_back(link);
        }
    }
}

Snapshot MachineBuilder::finish() {
    sort_by_address(snapshot.gpus);
    sort_by_address(snapshot.nics);
    sort_by_address(snapshot.nvswitches);
    find_restriction();
    place_roots();
    place_devices();
    resolve_links();
    snapshot.pairs.assign(snapshot.gpus.size() * snapshot.gpus.size(), {});
    snapshot.host.source = source_;
    snapshot.host.numa_nodes = static_cast<int>(snapshot.host.numa_list.size());
    if (const auto &restriction = snapshot.host.restriction)
        snapshot.host.numa_nodes += static_cast<int>(restriction->hidden_nodes.size());
    if (!snapshot.host.package_list.empty())
        snapshot.host.packages = static_cast<int>(snapshot.host.package_list.size());
    make_printable(snapshot);
    return std::move(snapshot);
}

}  // namespace baton::topology
