#include "topology/ring.hpp"

#include <algorithm>
#include <numeric>

namespace baton::topology {
namespace {

class Edges {
public:
    Edges(const std::vector<EdgeWeight> &weights, int n) : weights_(weights), n_(static_cast<std::size_t>(n)) {}

    const EdgeWeight &at(int a, int b) const {
        return weights_[static_cast<std::size_t>(a) * n_ + static_cast<std::size_t>(b)];
    }
    int count() const { return static_cast<int>(n_); }

    /// All distinct weights, rising.
    std::vector<EdgeWeight> levels() const {
        std::vector<EdgeWeight> all;
        for (int a = 0; a < count(); ++a)
            for (int b = a + 1; b < count(); ++b) all.push_back(at(a, b));
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

private:
    const std::vector<EdgeWeight> &weights_;
    std::size_t n_;
};

std::vector<int> identity(int n) {
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// The smallest sequence from 0 that is a ring over edges of at least `least`; empty where there is none.
std::vector<int> ring_above(const Edges &edges, const EdgeWeight &least) {
    const int n = edges.count();
    const std::size_t all = (std::size_t{1} << n) - 1;
    std::vector<std::uint32_t> neighbours(static_cast<std::size_t>(n), 0);
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b)
            if (a != b && edges.at(a, b) >= least) neighbours[static_cast<std::size_t>(a)] |= 1u << b;

    // ends[visited]: the vertices of `visited` from which a path over all vertices outside it leads back to 0.
    std::vector<std::uint32_t> ends(all + 1, 0);
    ends[all] = neighbours[0];
    for (std::size_t visited = all; visited-- > 1;) {
        if (!(visited & 1)) continue;
        std::uint32_t can = 0;
        for (int next = 1; next < n; ++next) {
            const std::size_t bit = std::size_t{1} << next;
            if (!(visited & bit) && (ends[visited | bit] >> next & 1))
                can |= neighbours[static_cast<std::size_t>(next)];
        }
        ends[visited] = can & static_cast<std::uint32_t>(visited);
    }
    if (!(ends[1] & 1)) return {};

    std::vector<int> order{0};
    std::size_t visited = 1;
    while (order.size() < static_cast<std::size_t>(n)) {
        for (int next = 1; next < n; ++next) {
            const std::size_t bit = std::size_t{1} << next;
            if ((visited & bit) || !(neighbours[static_cast<std::size_t>(order.back())] >> next & 1) ||
                !(ends[visited | bit] >> next & 1))
                continue;
            order.push_back(next);
            visited |= bit;
            break;
        }
    }
    return order;
}

std::vector<int> exact_ring(const Edges &edges) {
    const std::vector<EdgeWeight> levels = edges.levels();
    std::vector<int> best = identity(edges.count());  // the lowest level admits every ring
    std::size_t low = 0, high = levels.size();
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        if (std::vector<int> order = ring_above(edges, levels[middle]); !order.empty()) {
            best = std::move(order);
            low = middle;
        } else {
            high = middle;
        }
    }
    return best;
}

std::vector<int> greedy_ring(const Edges &edges) {
    std::vector<int> order{0}, left = identity(edges.count());
    left.erase(left.begin());
    while (!left.empty()) {
        const auto best = std::max_element(left.begin(), left.end(), [&](int a, int b) {  // the first of equal ones
            return edges.at(order.back(), a) < edges.at(order.back(), b);
        });
        order.push_back(*best);
        left.erase(best);
    }
    return order;
}

std::vector<int> ring_over_all(const std::vector<EdgeWeight> &weights, int n) {
    const Edges edges(weights, n);
    std::vector<int> order = identity(n);
    if (n <= 3) return order;  // there is one ring only
    if (n <= exact_ring_limit) return exact_ring(edges);
    std::vector<int> greedy = greedy_ring(edges);
    return worst_edge(weights, greedy) > worst_edge(weights, order) ? greedy : order;
}

/// The ranks of each GPU, by rising first rank. Ranks of one GPU that do not reach each other directly count as
/// separate GPUs: bringing them together gains nothing.
std::vector<std::vector<int>> ranks_of_gpus(const Edges &edges) {
    std::vector<std::vector<int>> gpus;
    for (int rank = 0; rank < edges.count(); ++rank) {
        const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const std::vector<int> &ranks) {
            return std::all_of(ranks.begin(), ranks.end(), [&](int other) {
                const EdgeWeight &edge = edges.at(rank, other);
                return edge.direct && edge.mbps == same_gpu_mbps;
            });
        });
        if (found != gpus.end())
            found->push_back(rank);
        else
            gpus.push_back({rank});
    }
    return gpus;
}

/// The ring over the GPUs, with the ranks of each one after another.
std::vector<int> ring_over_gpus(const Edges &edges, const std::vector<std::vector<int>> &gpus) {
    std::vector<EdgeWeight> between;
    for (const auto &from : gpus)
        for (const auto &to : gpus) between.push_back(edges.at(from.front(), to.front()));
    std::vector<int> order;
    for (const int gpu : ring_over_all(between, static_cast<int>(gpus.size()))) {
        const std::vector<int> &ranks = gpus[static_cast<std::size_t>(gpu)];
        order.insert(order.end(), ranks.begin(), ranks.end());
    }
    return order;
}

}  // namespace

EdgeWeight worst_edge(const std::vector<EdgeWeight> &weights, const std::vector<int> &order) {
    const Edges edges(weights, static_cast<int>(order.size()));
    EdgeWeight worst = edges.at(order.back(), order.front());
    for (std::size_t index = 0; index + 1 < order.size(); ++index)
        worst = std::min(worst, edges.at(order[index], order[index + 1]));
    return worst;
}

std::vector<int> ring_order(const std::vector<EdgeWeight> &weights, int n) {
    const Edges edges(weights, n);
    std::vector<int> over_all = ring_over_all(weights, n);
    const std::vector<std::vector<int>> gpus = ranks_of_gpus(edges);
    if (gpus.size() == over_all.size()) return over_all;
    std::vector<int> over_gpus = ring_over_gpus(edges, gpus);
    return worst_edge(weights, over_all) > worst_edge(weights, over_gpus) ? over_all : over_gpus;
}

}  // namespace baton::topology
