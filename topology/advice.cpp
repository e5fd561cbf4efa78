#include "topology/advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/components.hpp"
#include "topology/links.hpp"
#include "topology/names.hpp"

namespace baton::topology {
namespace {

bool refused(const Known<bool> &permission) { return permission.known() && !permission.value; }

/// By NVLink in any form, or because both are one GPU.
bool linked(LinkKind kind) { return kind <= LinkKind::C2C; }

/// Linked, and nobody refuses to use it.
bool usable_link(const Pair &pair) { return linked(pair.kind.value) && !p2p_refused(pair); }

/// Stands in for a bandwidth that nobody tells. It only puts kinds in order (one NVLink above PCIe 5.0 x16); the
/// figures are of no machine.
int assumed_mbps(LinkKind kind, int links) {
    switch (kind) {
        case LinkKind::SELF:
        case LinkKind::SAME_DEVICE:
            return same_gpu_mbps;
        case LinkKind::NVLINK:
        case LinkKind::NVSWITCH:
        case LinkKind::C2C:
            return 64'000 * std::max(links, 1);
        case LinkKind::PIX:
        case LinkKind::PXB:
        case LinkKind::PHB:
        case LinkKind::NODE:
        case LinkKind::SYS:
            return 12'000;
        case LinkKind::NONE:
            return 1'000;
    }
    return 0;
}

Basis basis_of(const Pair &pair) {
    return pair.nominal_mbps.known() ? Basis::bandwidth : pair.links > 0 ? Basis::links : Basis::kind;
}

/// To a ring, direct NVLinks and those by switches are the same.
int preference(LinkKind kind) {
    if (kind == LinkKind::NVSWITCH) kind = LinkKind::NVLINK;
    return static_cast<int>(LinkKind::NONE) - static_cast<int>(kind);
}

/// The graph's Pair for two ranks. Two ranks of one GPU have none there, and are SAME_DEVICE.
class RankPairs {
public:
    RankPairs(const Graph &graph, const std::vector<int> &gpu_of_rank) : graph_(graph), gpus_(gpu_of_rank) {
        same_.kind = {LinkKind::SAME_DEVICE, Source::table};
        none_.kind = {LinkKind::NONE, Source::none};
    }
    int count() const { return static_cast<int>(gpus_.size()); }
    const Pair &at(int from, int to) const {
        const int a = gpus_[static_cast<std::size_t>(from)], b = gpus_[static_cast<std::size_t>(to)];
        if (a < 0 || b < 0) return none_;
        return a == b ? same_ : graph_.pair(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
    }

private:
    const Graph &graph_;
    const std::vector<int> &gpus_;
    Pair same_, none_;
};

EdgeWeight weight_of(const Pair &pair) {
    EdgeWeight weight;
    weight.direct = !p2p_refused(pair);
    weight.mbps = pair.nominal_mbps.known() ? pair.nominal_mbps.value : assumed_mbps(pair.kind.value, pair.links);
    weight.kind = preference(pair.kind.value);
    return weight;
}

RankPair both_ways(const Pair &there, const Pair &back) {
    RankPair both;
    both.same_gpu = there.kind.value <= LinkKind::SAME_DEVICE;
    both.linked = usable_link(there) && usable_link(back);
    both.own_links = both.linked && there.kind.value == LinkKind::NVLINK && back.kind.value == LinkKind::NVLINK;
    both.known = both.same_gpu || there.kind.value != LinkKind::NONE || there.nominal_mbps.known();
    both.weight = std::min(weight_of(there), weight_of(back));
    both.basis = std::max(basis_of(there), basis_of(back));
    return both;
}

bool all_alike(const std::vector<EdgeWeight> &weights, int n) {
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b)
            if (a != b && weights[static_cast<std::size_t>(a * n + b)] != weights[1]) return false;
    return true;
}

Ring make_ring(const RankPairs &pairs, const std::vector<RankPair> &both) {
    const int n = pairs.count();
    std::vector<EdgeWeight> weights;
    for (const RankPair &pair : both) weights.push_back(pair.weight);

    Ring ring;
    ring.order = ring_order(weights, n);
    ring.rank_order = std::is_sorted(ring.order.begin(), ring.order.end());
    const bool alike = all_alike(weights, n);
    ring.exact = n <= exact_ring_limit || alike;
    if (n < 2) {
        ring.why = "fewer than two ranks";
        return ring;
    }
    // Finds the worst edge again, as a Pair, because a weight does not say who told its bandwidth.
    ring.bottleneck = worst_edge(weights, ring.order);
    for (std::size_t index = 0; index < ring.order.size(); ++index) {
        const int a = ring.order[index], b = ring.order[(index + 1) % ring.order.size()];
        if (weights[static_cast<std::size_t>(a * n + b)] != ring.bottleneck) continue;
        const Pair &there = pairs.at(a, b), &back = pairs.at(b, a);
        const Pair &slower = weight_of(back) < weight_of(there) ? back : there;
        ring.bottleneck_mbps = slower.nominal_mbps;
        ring.bottleneck_kind = slower.kind.value;
        ring.bottleneck_links = slower.links;
        break;
    }
    if (alike)
        ring.why = "all pairs are alike, so any order is as good";
    else if (ring.exact)
        ring.why = ring.rank_order ? "no ring has a better worst edge" : "the ring with the best worst edge";
    else
        ring.why = fmt::format("more than {} ranks: not proven best", exact_ring_limit);
    return ring;
}

std::vector<std::vector<int>> find_nvlink_groups(const CommAdvice &advice) {
    const std::vector<int> group_of_rank =
        components(advice.ranks.size(), [&](std::size_t a, std::size_t b) { return advice.pair(a, b).linked; });
    std::vector<std::vector<int>> groups;
    for (std::size_t rank = 0; rank < group_of_rank.size(); ++rank) {
        const auto group = static_cast<std::size_t>(group_of_rank[rank]);
        if (group == groups.size()) groups.emplace_back();
        groups[group].push_back(static_cast<int>(rank));
    }
    return groups;
}

bool alike(const Pair &a, const Pair &b) {
    return a.kind.value == b.kind.value && a.links == b.links && a.nominal_mbps.value == b.nominal_mbps.value &&
           refused(a.p2p_read) == refused(b.p2p_read) && refused(a.p2p_write) == refused(b.p2p_write);
}

std::string weakest_text(LinkKind weakest) {
    if (weakest == LinkKind::NONE) return "the weakest link is not known";
    return fmt::format("the weakest link is {}", link_name(weakest));
}

/// `any_p2p`: some pair is not refused P2P.
std::string describe(const CommAdvice &advice, bool any_p2p) {
    const std::size_t n = advice.ranks.size();
    if (n < 2) return n == 0 ? "no ranks" : "one rank";
    std::string text;
    if (advice.fully_linked)
        text = fmt::format("every pair of ranks is linked by {}{}", link_name(advice.weakest),
                           advice.uniform ? "" : " or better, not all alike");
    else if (advice.nvlink_groups.size() == n)
        text = "no usable NVLinks known; " + weakest_text(advice.weakest);
    else if (advice.nvlink_groups.size() == 1)
        text = "NVLinks connect all ranks, but not every pair; " + weakest_text(advice.weakest);
    else
        text = fmt::format("{} NVLink islands; between them {}", advice.nvlink_groups.size(),
                           advice.weakest == LinkKind::NONE ? "unknown links" : link_name(advice.weakest));
    if (!advice.all_p2p)
        text += fmt::format("; {} pairs are refused P2P, so data of all these ranks go through host memory",
                            any_p2p ? "some" : "all");
    return text;
}

}  // namespace

bool p2p_refused(const Pair &pair) { return refused(pair.p2p_read) || refused(pair.p2p_write); }

TransportAdvice advise_pair(const Pair &pair) {
    if (pair.kind.value == LinkKind::SELF) return {Advised::none, "one and the same GPU"};
    if (p2p_refused(pair))
        return {Advised::host_staging,
                fmt::format("P2P is refused (by {})",
                            name_of(refused(pair.p2p_write) ? pair.p2p_write.source : pair.p2p_read.source))};
    if (linked(pair.kind.value))
        return {Advised::kernel_and_copy_engine,
                fmt::format("{}: kernels for small messages, copy engines for large ones", link_name(pair.kind.value))};
    if (pair.p2p_write.known() && pair.p2p_read.known())
        return {Advised::copy_engine, fmt::format("P2P over PCIe ({}): copy engines make the larger transactions",
                                                  link_name(pair.kind.value))};
    return {Advised::host_staging, "nobody says that P2P works, or knows of an NVLink"};
}

RankAdvice advise_rank(const Snapshot &snapshot, const Graph &graph, int gpu) {
    RankAdvice advice;
    if (gpu < 0) return advice;
    const Gpu &own = snapshot.gpus[static_cast<std::size_t>(gpu)];
    advice.gpu = gpu;
    advice.uuid = own.uuid;
    advice.pci = own.pci;
    advice.cpuset = own.cpuset;
    advice.numa_node = own.numa_node;
    LinkKind best = LinkKind::NONE;
    for (std::size_t nic = 0; nic < graph.nics; ++nic)
        best = std::min(best, graph.nic_path(static_cast<std::size_t>(gpu), nic).kind.value);
    for (std::size_t nic = 0; best != LinkKind::NONE && nic < graph.nics; ++nic)
        if (graph.nic_path(static_cast<std::size_t>(gpu), nic).kind.value == best)
            advice.nearest_nics.push_back({static_cast<int>(nic), best});
    return advice;
}

CommAdvice advise_communicator(const Snapshot &snapshot, const Graph &graph, const std::vector<int> &gpu_of_rank) {
    const RankPairs pairs(graph, gpu_of_rank);
    CommAdvice advice;
    bool any_p2p = false;
    for (const int gpu : gpu_of_rank) advice.ranks.push_back(advise_rank(snapshot, graph, gpu));
    for (int a = 0; a < pairs.count(); ++a)
        for (int b = 0; b < pairs.count(); ++b) {
            if (a == b) continue;
            const Pair &pair = pairs.at(a, b);
            advice.uniform = advice.uniform && alike(pair, pairs.at(0, 1));
            advice.all_p2p = advice.all_p2p && !p2p_refused(pair);
            any_p2p = any_p2p || !p2p_refused(pair);
            advice.fully_linked = advice.fully_linked && usable_link(pair);
            advice.weakest = std::max(advice.weakest, pair.kind.value);
        }
    for (int a = 0; a < pairs.count(); ++a)
        for (int b = 0; b < pairs.count(); ++b) advice.pairs.push_back(both_ways(pairs.at(a, b), pairs.at(b, a)));
    advice.nvlink_groups = find_nvlink_groups(advice);
    advice.ring = make_ring(pairs, advice.pairs);
    advice.why = describe(advice, any_p2p);
    return advice;
}

}  // namespace baton::topology
