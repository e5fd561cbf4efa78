#pragma once

#include <string>
#include <vector>

#include "topology/graph.hpp"
#include "topology/ring.hpp"
#include "topology/snapshot.hpp"

/// Advice that follows from the facts: pure functions, the same on every rank. They advise; selection decides.
namespace baton::topology {

enum class Advised : std::uint8_t {
    none,                    ///< nothing to move: one and the same GPU
    kernel_and_copy_engine,  ///< kernels for small messages, copy engines for large ones
    copy_engine,
    host_staging  ///< through pinned host memory
};

struct TransportAdvice {
    Advised transport = Advised::none;
    std::string why;

    bool operator==(const TransportAdvice &) const = default;
};

/// Whether somebody says that the first GPU may not read, or may not write, the second one's memory.
bool p2p_refused(const Pair &pair);

/// Advice for the first GPU of the pair, which writes to the second one's memory.
TransportAdvice advise_pair(const Pair &pair);

struct NearNic {
    int nic = -1;  ///< index in Snapshot::nics
    LinkKind kind = LinkKind::NONE;

    bool operator==(const NearNic &) const = default;
};

struct RankAdvice {
    int gpu = -1;  ///< index in Snapshot::gpus; -1: the rank has none, or it is not in the snapshot
    Known<std::string> uuid;
    Known<PciAddress> pci;
    Known<std::string> cpuset;
    Known<int> numa_node;
    std::vector<NearNic> nearest_nics;  ///< all of the best kind that there is

    bool operator==(const RankAdvice &) const = default;
};

/// Advice for a rank that uses this GPU, whichever it is. For gpu -1 nothing in it is known.
RankAdvice advise_rank(const Snapshot &snapshot, const Graph &graph, int gpu);

/// What the bandwidth in a weight rests on. Weights of different bases can be ordered, but their ratio means nothing.
enum class Basis : std::uint8_t {
    bandwidth,  ///< somebody tells it
    links,      ///< nobody does: assumed from the number of NVLinks
    kind        ///< assumed from the kind alone
};

/// Two ranks: the worse of both directions.
struct RankPair {
    bool same_gpu = false;
    bool linked = false;     ///< by NVLink in any form or a GPU that both share, and nobody refuses P2P
    bool own_links = false;  ///< linked by direct NVLinks, which no other pair uses
    bool known = false;      ///< somebody says how they are linked, or how fast
    EdgeWeight weight;
    Basis basis = Basis::kind;  ///< of weight

    bool operator==(const RankPair &) const = default;
};

struct CommAdvice {
    std::vector<RankAdvice> ranks;
    std::vector<RankPair> pairs;  ///< ranks.size()^2, symmetric; the diagonal means nothing
    bool uniform = true;          ///< all pairs of ranks are alike: kind, links, bandwidth, P2P
    bool all_p2p = true;          ///< no pair is refused P2P, in either direction
    bool fully_linked = true;     ///< every pair of ranks is linked, as in RankPair
    LinkKind weakest = LinkKind::SELF;
    /// Groups of ranks that NVLink connects, maybe by way of other ranks, ordered by their smallest rank. (Texts for
    /// people call them islands.)
    std::vector<std::vector<int>> nvlink_groups;
    Ring ring;
    std::string why;  ///< one line: what kind of machine this is for the communicator

    const RankPair &pair(std::size_t a, std::size_t b) const { return pairs[a * ranks.size() + b]; }

    bool operator==(const CommAdvice &) const = default;
};

/// `gpu_of_rank`: index in Snapshot::gpus, or -1. Ranks may share GPUs.
CommAdvice advise_communicator(const Snapshot &snapshot, const Graph &graph, const std::vector<int> &gpu_of_rank);

}  // namespace baton::topology
