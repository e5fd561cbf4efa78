#pragma once

#include <optional>
#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// The way between two devices through the PCI trees.
struct PciPath {
    LinkKind kind = LinkKind::NONE;  ///< PIX, PXB, PHB, NODE or SYS; SELF for a device and itself
    int hops = 0;                    ///< bridges, switches and host bridges on it
    Known<int> mbps;                 ///< of the slowest link that tells its speed; unknown if none does
    Source source = Source::none;
    std::string why;

    bool operator==(const PciPath &) const = default;
};

/// `from` and `to` are indices in Snapshot::pci. Empty if one of them is not in the trees (-1).
std::optional<PciPath> find_pci_path(const Snapshot &snapshot, int from, int to);

}  // namespace baton::topology
