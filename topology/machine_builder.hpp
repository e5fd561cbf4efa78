#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/index_set.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// What both XML readers share. Devices are collected in the order of the file, under the names that it gives them;
/// finish() sorts them into the order of the Snapshot (rising PCI addresses) and resolves references.
class MachineBuilder {
public:
    explicit MachineBuilder(Source source) : source_(source) { snapshot.pci_source = source; }

    /// Returns the index of the node; empty beyond max_pci_nodes. REQUIRES: node.parent is an earlier result, or -1.
    std::optional<int> add_pci(PciNode node);

    /// Add a GPU, NIC or switch at a result of add_pci(). The kind of a NIC follows from its PCI class.
    Gpu &add_gpu(int pci_node) { return add_device(snapshot.gpus, pci_node); }
    Nic &add_nic(int pci_node);
    void add_switch(int pci_node) { add_device(snapshot.nvswitches, pci_node); }

    /// All NVLinks from a device to another one, as `count` equal links.
    struct Links {
        int from_node = -1;  ///< PCI node of a GPU
        int to_node = -1;    ///< PCI node of a GPU or a switch; -1: far_end tells
        FarEnd far_end = FarEnd::unknown;
        int count = 0;
        int mbps = 0;  ///< of one link; 0 unknown
        int version = 0;
    };
    void add_links(const Links &links) { links_.push_back(links); }

    /// Sets which processing units this process may use, and which processing units and NUMA nodes there are, as the
    /// file says it. An empty set: the file says nothing.
    void set_usable(IndexSet pus, IndexSet all_pus, IndexSet all_nodes) {
        usable_pus_ = std::move(pus);
        all_pus_ = std::move(all_pus);
        all_nodes_ = std::move(all_nodes);
    }

    /// The processing units of all packages and NUMA nodes in the file.
    IndexSet pus_of_parts() const;

    /// Notes a gap, once, for devices that the Snapshot has no room for: the caller passes them over.
    void pass_over(const char *devices, std::size_t most);

    /// Sorts, sets NUMA nodes and processors from the trees' roots, and makes the table of pairs.
    Snapshot finish();

    Snapshot snapshot;

private:
    template <class Device>
    Device &add_device(std::vector<Device> &devices, int pci_node) {
        Device &device = devices.emplace_back();
        device.pci_node = pci_node;
        if (const auto &address = snapshot.pci[static_cast<std::size_t>(pci_node)].address)
            device.pci = {*address, source_};
        return device;
    }
    void find_restriction();
    void place_roots();
    void place_devices();
    void resolve_links();

    Source source_;
    std::vector<Links> links_;
    IndexSet usable_pus_, all_pus_, all_nodes_;
    std::vector<int> hidden_memory_;  // NUMA nodes without an entry and without processors of their own, rising
};

}  // namespace baton::topology
