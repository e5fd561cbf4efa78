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
        std::string processors;  // near it, "0-3,8"; empty: not known
    };
    Links links;
    std::string refusal;               // the entry of the override that refuses P2P between two ranks; empty: none does
    std::vector<Locality> localities;  // by rank; none on host memory
    std::string note;                  // for the log: why the override was passed over
};

/// baton_config.topology: an override's text (it starts with '{'), or the path of one; none where it is null, empty or
/// "none". Throws BATON_ERR_ARGUMENT naming the file, and the entry where it is wrong.
std::optional<topology::Override> read_topology(const char *setting);

/// Of `ranks` ranks on host memory: all pairs are alike, unless the override is one for that number of ranks.
CommTopology host_topology(const std::optional<topology::Override> &said, int ranks);
/// `uuids`: of each rank's GPU. Throws where the override does not fit the machine. An override for that number of
/// ranks says what links there are and what is refused; where the ranks lie is still what the machine says.
CommTopology gpu_topology(const std::optional<topology::Override> &said, topology::Snapshot machine,
                          const std::vector<std::string> &uuids);

/// For the other ranks: without the note.
std::string to_text(const CommTopology &topology);
CommTopology comm_topology_from(const std::string &text);

/// Of this rank, with what the system says here; `locality` null on host memory.
Placement placement_at(const CommTopology::Locality *locality);

}  // namespace baton::core
