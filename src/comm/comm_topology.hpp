#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/links.hpp"
#include "memory/placement.hpp"
#include "topology/override.hpp"
#include "topology/snapshot.hpp"

namespace baton::core {

/// What rank 0 finds out about the machine for all ranks of a communicator, so that they cannot disagree.
struct CommTopology {
    struct Locality {
        int numa_node = -1;      // of the rank's GPU; -1: not known
        std::string processors;  // near the GPU, "0-3,8"; empty: not known
    };
    Links links;
    std::string refusal;               // which entry of the override refuses P2P to which ranks; empty: none does
    std::vector<Locality> localities;  // by rank; none on host memory
    std::string note;                  // for the log: why the override was passed over
};

/// Reads baton_config.topology: the text of an override (it starts with '{'), or the path of one. Returns nothing if it
/// is null, empty or "none". Throws BATON_ERR_ARGUMENT naming the file, and the entry that is wrong.
std::optional<topology::Override> read_topology(const char *setting);

/// For ranks on host memory: all pairs are alike, unless the override is one for that number of ranks.
CommTopology host_topology(const std::optional<topology::Override> &said, int ranks);
/// For ranks on GPUs, `uuids` by rank. Throws if the override does not fit the machine. An override for that number of
/// ranks says what links there are and what is refused; where the ranks lie is still what the machine says.
CommTopology gpu_topology(const std::optional<topology::Override> &said, topology::Snapshot machine,
                          const std::vector<std::string> &uuids);

/// What rank 0 sends to the other ranks: all but the note.
std::string to_text(const CommTopology &topology);
CommTopology comm_topology_from(const std::string &text);

/// Returns this rank's placement, from `locality` (null on host memory) and from what the system says here.
Placement placement_at(const CommTopology::Locality *locality);

}  // namespace baton::core
