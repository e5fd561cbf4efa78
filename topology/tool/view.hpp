#pragma once

#include <string>
#include <vector>

#include "topology/snapshot.hpp"

/// The machine as people see it: sockets, in them NUMA nodes, on them what matters of the PCI trees.
namespace baton::topology {

/// A device, or a PCI object with several branches below it. Ports that lead to one thing only are left out.
struct Branch {
    PciKind kind = PciKind::other;
    int pci_node = -1;      ///< index in Snapshot::pci; -1: not in the tree
    std::vector<int> gpus;  ///< kind gpu: index in Snapshot::gpus; several are slices of one GPU
    std::vector<int> nics;
    int nvswitch = -1;
    int mbps = 0;  ///< of the slowest link up to its parent in the view; 0 unknown
    std::vector<Branch> children;
};

struct NodeView {
    int os_index = -1;  ///< -1: no NUMA node is known for these
    std::string cpuset;
    std::uint64_t memory_bytes = 0;
    std::vector<Branch> branches;
};

struct SocketView {
    int index = -1;  ///< -1: not known to be a socket
    std::vector<NodeView> nodes;
};

/// All sockets in order, and last, if there is anything that could not be placed on one of them, an entry with that.
/// Every GPU and NIC is there exactly once.
std::vector<SocketView> view_of(const Snapshot &snapshot);

/// Branches without NVSwitches.
std::vector<Branch> without_switches(const std::vector<Branch> &branches);

}  // namespace baton::topology
