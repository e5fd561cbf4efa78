#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "topology/machine_builder.hpp"
#include "topology/xml_file.hpp"

namespace baton::topology {

/// The objects of a file in hwloc's format that its matrices may speak of.
struct HwlocObjects {
    struct Entry {
        int node = -1;         ///< in the PCI tree; of an OS device, its PCI device's
        bool package = false;  ///< a CPU
    };
    std::map<std::uint64_t, Entry> by_gp_index;
    std::vector<int> hidden_switch_nodes;  ///< GPUs with hidden_switches_info, in the PCI tree
    std::string hwloc_version;             ///< of the hwloc that wrote the file; empty: not told
};

struct MatrixInput {
    const XmlFile &file;
    pugi::xml_node topology;
    Source source;
    const HwlocObjects &objects;
};

/// Says of a GPU that its switches cannot be seen: then the matrix holds what each pair of GPUs has by way of them.
constexpr const char *hidden_switches_info = "BatonHiddenNVSwitches";

/// Brings the matrix "NVLinkBandwidth" (MB/s, one direction) into the machine, as links. Refuses one that is not of its
/// own size; notes it where there is none.
void read_nvlink_matrix(const MatrixInput &input, MachineBuilder &builder);

}  // namespace baton::topology
