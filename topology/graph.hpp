#pragma once

#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// An ordered pair of GPUs.
struct Pair {
    Known<LinkKind> kind{LinkKind::NONE, Source::none};
    int links = 0;            ///< NVLinks that the pair can use at once; 0 with an NVLink kind: number unknown
    Known<int> nominal_mbps;  ///< per direction; what the generation promises, not what a copy reaches
    Known<int> hops;          ///< devices between the two: NVSwitches, PCIe bridges (ports of switches), host bridges
    Known<bool> p2p_read;     ///< the first GPU may read the second one's memory
    Known<bool> p2p_write;
    Known<bool> p2p_atomics;
    Known<int> measured_mbps;
    bool switch_hidden = false;
    std::string why;  ///< the fact that decided the kind

    bool operator==(const Pair &) const = default;
};

/// A NIC as a GPU, or another NIC, sees it.
struct NicPath {
    Known<LinkKind> kind{LinkKind::NONE, Source::none};  ///< PIX ... SYS, NONE
    Known<int> hops;

    bool operator==(const NicPath &) const = default;
};

/// How every GPU reaches every other, and every NIC. Indices are the Snapshot's.
struct Graph {
    std::size_t gpus = 0, nics = 0;
    std::vector<Pair> pairs;         ///< gpus^2
    std::vector<NicPath> nic_paths;  ///< gpus * nics
    std::vector<NicPath> nic_pairs;  ///< nics^2; SELF on the diagonal

    const Pair &pair(std::size_t from, std::size_t to) const { return pairs[from * gpus + to]; }
    const NicPath &nic_path(std::size_t gpu, std::size_t nic) const { return nic_paths[gpu * nics + nic]; }
    const NicPath &nic_pair(std::size_t from, std::size_t to) const { return nic_pairs[from * nics + to]; }

    bool operator==(const Graph &) const = default;
};

/// Pure: the same snapshot gives the same graph, on every rank.
Graph make_graph(const Snapshot &snapshot);

/// MB/s of one link in one direction; 0 if unknown. Nominal where the generation is known and nobody reports clearly
/// less (as for GA10x, or a link that has trained to less); else as reported.
int link_mbps(const NvLink &link);

/// Whether this entry stands for all links between two devices, whose number nobody tells. hwloc's matrix gives such
/// sums; the number stays unknown where the sum is no multiple of one link's bandwidth in a known generation.
bool is_sum_of_links(const Gpu &gpu, const NvLink &link);

/// What the kind means, in a few words: "PCIe and the link between NUMA nodes".
const char *meaning_of(LinkKind kind);

/// MB/s as text in GB/s: "450", "12.5".
std::string gbps_text(int mbps);

}  // namespace baton::topology
