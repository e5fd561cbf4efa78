#pragma once

#include <string>
#include <vector>

#include "topology/snapshot.hpp"

/// Snapshots of machines that the tests talk about, without any reader.
namespace baton::topology::builders {

inline PciAddress address(std::size_t index) { return {0, static_cast<std::uint32_t>(0x10 + index), 0, 0}; }

/// GPUs of which nothing is known but name, UUID and address.
inline Snapshot gpus(std::size_t count) {
    Snapshot snapshot;
    for (std::size_t index = 0; index < count; ++index) {
        Gpu &gpu = snapshot.gpus.emplace_back();
        gpu.name = "GPU";
        gpu.uuid = {"GPU-" + std::to_string(index), Source::nvml};
        gpu.pci = {address(index), Source::nvml};
    }
    snapshot.pairs.resize(count * count);
    return snapshot;
}

inline void add_link(Snapshot &snapshot, std::size_t gpu, NvLink link) {
    Gpu &owner = snapshot.gpus[gpu];
    link.index = static_cast<int>(owner.nvlinks.size());
    link.active = true;
    owner.nvlinks.push_back(link);
    owner.nvlink_source = Source::nvml;
}

/// Adds `count` NVLinks between two GPUs; `version` is NVML's code.
inline void join(Snapshot &snapshot, std::size_t a, std::size_t b, int count, int version = 2) {
    for (int link = 0; link < count; ++link) {
        add_link(snapshot, a, {0, true, version, 0, FarEnd::gpu, static_cast<int>(b), -1});
        add_link(snapshot, b, {0, true, version, 0, FarEnd::gpu, static_cast<int>(a), -1});
    }
}

/// All GPUs at NVSwitches that cannot be seen.
inline Snapshot hidden_switches(std::size_t count, int links = 18, int version = 6) {
    Snapshot snapshot = gpus(count);
    for (std::size_t gpu = 0; gpu < count; ++gpu)
        for (int link = 0; link < links; ++link)
            add_link(snapshot, gpu, {0, true, version, 0, FarEnd::hidden_switch, -1, -1});
    return snapshot;
}

/// DGX-1V: the hybrid cube mesh of 8 V100 with 6 links each.
inline Snapshot cube_mesh() {
    Snapshot snapshot = gpus(8);
    const int links[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0},
                             {2, 1, 2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1},
                             {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
    for (std::size_t a = 0; a < 8; ++a)
        for (std::size_t b = a + 1; b < 8; ++b) join(snapshot, a, b, links[a][b]);
    for (std::size_t a = 0; a < 8; ++a) snapshot.gpus[a].numa_node = {static_cast<int>(a / 4), Source::sysfs};
    return snapshot;
}

/// Adds a node to the PCI tree, and returns its index.
inline int add_pci(Snapshot &snapshot, PciKind kind, int parent, int mbps = 0) {
    PciNode node;
    node.kind = kind;
    node.parent = parent;
    if (kind != PciKind::host_bridge)
        node.address = PciAddress{1, static_cast<std::uint32_t>(snapshot.pci.size()), 0, 0};
    if (mbps > 0) node.mbps = {mbps, Source::hwloc};
    snapshot.pci_source = Source::hwloc;
    snapshot.pci.push_back(node);
    return static_cast<int>(snapshot.pci.size()) - 1;
}

inline void add_nic(Snapshot &snapshot, const std::string &name, int pci_node) {
    Nic &nic = snapshot.nics.emplace_back();
    nic.name = name;
    nic.kind = NicKind::infiniband;
    nic.pci_node = pci_node;
}

inline Snapshot with_p2p(Snapshot snapshot, bool allowed) {
    for (PairFacts &pair : snapshot.pairs) {
        pair.p2p_read = {allowed, Source::nvml};
        pair.p2p_write = {allowed, Source::nvml};
    }
    return snapshot;
}

}  // namespace baton::topology::builders
