#pragma once

#include <optional>
#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// The way between two devices through the PCI trees.
struct PciPath {
    LinkKind kind = LinkKind::NONE;  ///< PIX, PXB, PHB, NODE or SYS; SELF for a device and itself
    int hops = 0;                    ///< bridges, switches and host bridges on it
    Known<int> mbps;                 ///< of its slowest link; unknown where no link tells its speed
    Source source = Source::none;
    std::string why;

    bool operator==(const PciPath &) const = default;
};

/// Empty where one of them (an index in Snapshot::pci) is not in the trees.
std::optional<PciPath> find_pci_path(const Snapshot &snapshot, int from, int to);

}  // namespace baton::topology
