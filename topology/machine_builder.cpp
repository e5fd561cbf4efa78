#include "topology/machine_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "topology/limits.hpp"
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

}  // namespace

std::optional<int> MachineBuilder::add_pci(PciNode node) {
    if (snapshot.pci.size() >= max_pci_nodes) return std::nullopt;
    snapshot.pci.push_back(std::move(node));
    return static_cast<int>(snapshot.pci.size()) - 1;
}

Gpu &MachineBuilder::add_gpu(int pci_node) {
    Gpu &gpu = snapshot.gpus.emplace_back();
    gpu.pci_node = pci_node;
    if (pci_node >= 0)
        if (const auto &address = snapshot.pci[static_cast<std::size_t>(pci_node)].address)
            gpu.pci = {*address, source_};
    return gpu;
}

Nic &MachineBuilder::add_nic(int pci_node) {
    Nic &nic = snapshot.nics.emplace_back();
    nic.pci_node = pci_node;
    if (pci_node >= 0)
        if (const auto &address = snapshot.pci[static_cast<std::size_t>(pci_node)].address)
            nic.pci = {*address, source_};
    return nic;
}

void MachineBuilder::add_switch(int pci_node) {
    NvSwitch nvswitch;
    nvswitch.pci_node = pci_node;
    if (pci_node >= 0)
        if (const auto &address = snapshot.pci[static_cast<std::size_t>(pci_node)].address)
            nvswitch.pci = {*address, source_};
    snapshot.nvswitches.push_back(nvswitch);
}

int MachineBuilder::root_of(int node) const {
    while (node >= 0 && snapshot.pci[static_cast<std::size_t>(node)].parent >= 0)
        node = snapshot.pci[static_cast<std::size_t>(node)].parent;
    return node;
}

/// A root that hangs at the whole machine says nothing, unless the machine is all one: so it is in virtual machines
/// whose firmware does not tell the NUMA node.
void MachineBuilder::place_roots() {
    std::vector<NumaNode> &nodes = snapshot.host.numa_list;
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const NumaNode &a, const NumaNode &b) { return a.os_index < b.os_index; });
    std::vector<IndexSet> near;
    std::size_t with_processors = 0;
    for (const NumaNode &node : nodes) {
        near.push_back(IndexSet::from_list(node.cpuset).value_or(IndexSet()));
        with_processors += near.back().empty() ? 0 : 1;
    }
    for (PciNode &root : snapshot.pci) {
        if (root.parent >= 0) continue;
        const IndexSet processors = IndexSet::from_list(root.cpuset).value_or(IndexSet());
        if (root.numa_nodes.empty())
            for (std::size_t index = 0; index < nodes.size(); ++index)
                if (processors.intersects(near[index])) root.numa_nodes.push_back(nodes[index].os_index);
        // Memory without processors (a GPU's own) lies below no device.
        const auto count = std::count_if(root.numa_nodes.begin(), root.numa_nodes.end(), [&](int os_index) {
            for (std::size_t index = 0; index < nodes.size(); ++index)
                if (nodes[index].os_index == os_index) return !near[index].empty();
            return true;
        });
        if (with_processors > 1 && static_cast<std::size_t>(count) >= with_processors) {
            root.numa_nodes.clear();
            root.cpuset.clear();
        }
    }
}

void MachineBuilder::place_devices() {
    const auto place = [&](auto &device) {
        const int root = root_of(device.pci_node);
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
    place_roots();
    place_devices();
    resolve_links();
    snapshot.pairs.assign(snapshot.gpus.size() * snapshot.gpus.size(), {});
    snapshot.host.source = source_;
    snapshot.host.numa_nodes = static_cast<int>(snapshot.host.numa_list.size());
    if (!snapshot.host.package_list.empty())
        snapshot.host.packages = static_cast<int>(snapshot.host.package_list.size());
    make_printable(snapshot);
    return std::move(snapshot);
}

}  // namespace baton::topology
