#pragma once

#include <string>
#include <utility>
#include <vector>

#include "topology/index_set.hpp"
#include "topology/snapshot.hpp"

namespace baton::topology {

/// What both XML readers share: devices are collected in the order of the file, with the names that the file gives
/// them, and finish() brings them into the Snapshot's order (rising PCI addresses) and resolves what refers to what.
class MachineBuilder {
public:
    explicit MachineBuilder(Source source) : source_(source) { snapshot.pci_source = source; }

    /// REQUIRES: node.parent is an earlier result, or -1. Empty where there are too many nodes for any machine.
    std::optional<int> add_pci(PciNode node);

    /// A GPU, NIC or switch of the file, at a result of add_pci(); a NIC is of the kind that its class tells.
    Gpu &add_gpu(int pci_node) { return add_device(snapshot.gpus, pci_node); }
    Nic &add_nic(int pci_node);
    void add_switch(int pci_node) { add_device(snapshot.nvswitches, pci_node); }

    /// All NVLinks from a device to another one, as `count` equal links.
    struct Links {
        int from_node = -1;  ///< of a GPU, in the PCI tree
        int to_node = -1;    ///< of a GPU or a switch; -1 with far_end
        FarEnd far_end = FarEnd::unknown;
        int count = 0;
        int mbps = 0;  ///< of one link; 0 unknown
        int version = 0;
    };
    void add_links(const Links &links) { links_.push_back(links); }

    /// What the file says that this process may use, and which processors and NUMA nodes it says that there are; empty:
    /// nothing.
    void set_usable(IndexSet pus, IndexSet all_pus, IndexSet all_nodes) {
        usable_pus_ = std::move(pus);
        all_pus_ = std::move(all_pus);
        all_nodes_ = std::move(all_nodes);
    }

    /// Of the packages and NUMA nodes that the file tells of.
    IndexSet pus_of_parts() const;

    /// One of more devices than the Snapshot has room for: it is passed over, and a gap says so once.
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
    std::vector<int>
        hidden_memory_;  // NUMA nodes without an entry, and without processors that no other one has; rising
};

}  // namespace baton::topology
