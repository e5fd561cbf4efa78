#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "topology/machine_builder.hpp"
#include "topology/xml_file.hpp"

namespace baton::topology {

/// The objects of a file in hwloc's format that its matrices may refer to.
struct HwlocObjects {
    struct Entry {
        int node = -1;         ///< in the PCI tree; an OS device has that of its PCI device
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

/// Name of the <info> of a GPU whose NVSwitches cannot be seen. The matrix then holds what each pair of GPUs has by way
/// of them.
constexpr const char *hidden_switches_info = "BatonHiddenNVSwitches";

/// Brings the matrix "NVLinkBandwidth" (MB/s, one direction) into the machine, as links. Refuses one whose values do
/// not match its objects. A file of several GPUs without one gets a note.
void read_nvlink_matrix(const MatrixInput &input, MachineBuilder &builder);

}  // namespace baton::topology
