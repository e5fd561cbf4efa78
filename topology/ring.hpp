#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// How good an edge of a ring is, the most important field first.
struct EdgeWeight {
    bool direct = true;  ///< P2P, not by way of host memory
    int mbps = 0;        ///< nominal, of the slower direction; assumed from kind and links where nobody tells
    int kind = 0;        ///< larger is better

    auto operator<=>(const EdgeWeight &) const = default;
};
/// EdgeWeight::mbps between ranks of one GPU.
constexpr int same_gpu_mbps = std::numeric_limits<int>::max();

struct Ring {
    std::vector<int> order;      ///< rank order[i] sends to order[i + 1]; starts with 0
    Known<int> bottleneck_mbps;  ///< of the worst edge; unknown below two ranks, or where nobody tells
    LinkKind bottleneck_kind = LinkKind::SELF;
    int bottleneck_links = 0;  ///< NVLinks of the worst edge, as in Pair::links
    EdgeWeight bottleneck;     ///< weight of the worst edge; equally bad edges compare equal to it
    bool rank_order = true;    ///< order is 0, 1, 2, ...
    bool exact = true;         ///< no ring has a better worst edge
    std::string why;

    bool operator==(const Ring &) const = default;
};

/// The ring over all n vertices whose worst edge is best. `weights`: n * n, symmetric, the diagonal is not looked at.
/// - All edges alike: 0, 1, 2, ...
/// - n <= exact_ring_limit: the optimum, and of all optimal ones the smallest sequence from 0. Takes n * 2^n steps per
///   bottleneck tried: some milliseconds for 16.
/// - Larger n: from 0 always on to the best neighbour that is left, the smallest of equal ones; 0, 1, 2, ... where that
///   is as good.
/// Where ranks share GPUs (same_gpu_mbps, and direct), the ring instead goes over the GPUs, ordered by their first
/// ranks, with the ranks of each one after another, so that it uses every link once. The ring over the ranks by the
/// rules above may use a link several times, and is taken only if its worst edge is better. (Example: GPUs in a row,
/// with links between neighbours only, where a ring has to go there and back.)
std::vector<int> ring_order(const std::vector<EdgeWeight> &weights, int n);
constexpr int exact_ring_limit = 16;

/// The worst edge of the ring `order`. REQUIRES: at least two vertices.
EdgeWeight worst_edge(const std::vector<EdgeWeight> &weights, const std::vector<int> &order);

}  // namespace baton::topology
