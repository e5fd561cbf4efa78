#include "topology/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "tests/topology/builders.hpp"
#include "topology/advice.hpp"
#include "topology/readers.hpp"

namespace baton::topology {
namespace {

using Weights = std::vector<EdgeWeight>;

Weights symmetric(int n, const std::function<EdgeWeight(int, int)> &weight) {
    Weights weights(static_cast<std::size_t>(n * n));
    for (int a = 0; a < n; ++a)
        for (int b = a + 1; b < n; ++b)
            weights[static_cast<std::size_t>(a * n + b)] = weights[static_cast<std::size_t>(b * n + a)] = weight(a, b);
    return weights;
}

std::vector<int> identity(int n) {
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

void expect_ring(std::vector<int> order, int n) {
    ASSERT_EQ(order.front(), 0);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, identity(n));
}

/// Tries all orders that begin with 0, from the smallest on, and returns the first of the best.
std::vector<int> by_trying_all(const Weights &weights, int n) {
    std::vector<int> order = identity(n), best = order;
    do {
        if (worst_edge(weights, order) > worst_edge(weights, best)) best = order;
    } while (std::next_permutation(order.begin() + 1, order.end()));
    return best;
}

TEST(Ring, SmallestOptimumOfRandomGraphs) {
    std::mt19937 random(20240229);
    for (int round = 0; round < 300; ++round) {
        const int n = 2 + static_cast<int>(random() % 6);
        const unsigned levels = 1 + random() % 5;
        const Weights weights = symmetric(n, [&](int, int) {
            return EdgeWeight{random() % 8 != 0, static_cast<int>(random() % levels), static_cast<int>(random() % 2)};
        });
        EXPECT_EQ(ring_order(weights, n), by_trying_all(weights, n)) << "round " << round << ", " << n << " ranks";
    }
}

TEST(Ring, EqualEdgesKeepTheRankOrder) {
    for (int n : {0, 1, 2, 3, 8, 16, 17, 40})
        EXPECT_EQ(ring_order(symmetric(n, [](int, int) { return EdgeWeight{true, 450'000, 9}; }), n), identity(n));
}

TEST(Ring, SixteenOnAHiddenRing) {  // one cycle of good edges, in a shuffled order
    const std::vector<int> cycle{0, 9, 4, 13, 2, 7, 15, 1, 11, 6, 3, 12, 8, 5, 14, 10};
    const Weights weights = symmetric(16, [&](int a, int b) {
        const auto at = [&](int v) { return std::find(cycle.begin(), cycle.end(), v) - cycle.begin(); };
        const auto apart = std::abs(at(a) - at(b));
        return EdgeWeight{true, apart == 1 || apart == 15 ? 100 : 10, 0};
    });
    EXPECT_EQ(ring_order(weights, 16), cycle);  // which begins with the smaller neighbour of 0
}

TEST(Ring, MoreThanSixteenIsARingAndNoWorseThanTheRankOrder) {
    std::mt19937 random(7);
    for (int n : {17, 24, 64}) {
        const Weights weights = symmetric(n, [&](int, int) {
            return EdgeWeight{true, static_cast<int>(random() % 4), 0};
        });
        const std::vector<int> order = ring_order(weights, n);
        expect_ring(order, n);
        EXPECT_GE(worst_edge(weights, order), worst_edge(weights, identity(n)));
        EXPECT_EQ(order, ring_order(weights, n));
    }
}

TEST(Ring, MoreThanSixteenFindsTwoBlocks) {  // even and odd ranks are islands
    const Weights weights = symmetric(20, [](int a, int b) {
        return EdgeWeight{true, (a - b) % 2 == 0 ? 300 : 30, 0};
    });
    EXPECT_EQ(ring_order(weights, 20), identity(20));  // the bridge between the islands cannot be avoided
}

/// The GPU of each rank: `per_gpu` ranks on each GPU, the next rank on the next GPU.
std::vector<int> round_robin(int gpus, int per_gpu) {
    std::vector<int> gpu_of_rank;
    for (int rank = 0; rank < gpus * per_gpu; ++rank) gpu_of_rank.push_back(rank % gpus);
    return gpu_of_rank;
}

/// The steps from one GPU to another one, in the ring's order.
std::vector<std::pair<int, int>> hops(const std::vector<int> &order, const std::vector<int> &gpu_of_rank) {
    std::vector<std::pair<int, int>> hops;
    for (std::size_t index = 0; index < order.size(); ++index) {
        const int from = gpu_of_rank[static_cast<std::size_t>(order[index])];
        const int to = gpu_of_rank[static_cast<std::size_t>(order[(index + 1) % order.size()])];
        if (from != to) hops.emplace_back(from, to);
    }
    return hops;
}

TEST(Ring, RanksThatShareGpusUseEachLinkOnce) {
    const Snapshot dgx = read_machine_file(BATON_TOPOLOGY_FIXTURES "/dgx-1v.xml");
    for (const int per_gpu : {2, 3, 4}) {
        const std::vector<int> gpu_of_rank = round_robin(8, per_gpu);
        const Ring ring = advise_communicator(dgx, make_graph(dgx), gpu_of_rank).ring;
        expect_ring(ring.order, 8 * per_gpu);
        EXPECT_EQ(ring.bottleneck_mbps.value, 50'000);
        const auto all = hops(ring.order, gpu_of_rank);
        EXPECT_EQ(all.size(), 8u) << "each GPU is left once";
        EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    }
    const Ring two = advise_communicator(dgx, make_graph(dgx), round_robin(8, 2)).ring;
    EXPECT_EQ(two.order, (std::vector<int>{0, 8, 3, 11, 2, 10, 1, 9, 5, 13, 6, 14, 7, 15, 4, 12}));
}

/// Links between neighbours only: a ring of GPUs would go from one end to the other over PCIe.
TEST(Ring, RanksThatShareGpusInARowGoThereAndBack) {
    Snapshot row = builders::gpus(4);
    for (std::size_t gpu = 0; gpu < 3; ++gpu) builders::join(row, gpu, gpu + 1, 4);
    const std::vector<int> gpu_of_rank = round_robin(4, 2);
    const Ring ring = advise_communicator(row, make_graph(row), gpu_of_rank).ring;
    EXPECT_EQ(ring.bottleneck_kind, LinkKind::NVLINK);
    EXPECT_EQ(ring.bottleneck_mbps.value, 100'000);
}

TEST(Ring, NoWorstEdgeIsBetterWhereRanksShareGpus) {
    std::mt19937 random(11);
    for (int round = 0; round < 100; ++round) {
        const int n = 4 + static_cast<int>(random() % 4), gpus = 1 + static_cast<int>(random() % 4);
        Weights between = symmetric(gpus, [&](int, int) {
            return EdgeWeight{random() % 8 != 0, static_cast<int>(random() % 4), 0};
        });
        const Weights weights = symmetric(n, [&](int a, int b) {
            const int from = a % gpus, to = b % gpus;
            return from == to ? EdgeWeight{true, same_gpu_mbps, 9}
                              : between[static_cast<std::size_t>(from * gpus + to)];
        });
        const std::vector<int> order = ring_order(weights, n);
        expect_ring(order, n);
        EXPECT_EQ(worst_edge(weights, order), worst_edge(weights, by_trying_all(weights, n))) << "round " << round;
    }
}

/// Slices of a GPU do not reach each other: bringing them together gains nothing.
TEST(Ring, SlicesKeepTheRankOrder) {
    const Weights weights = symmetric(6, [](int a, int b) {
        return EdgeWeight{false, a % 3 == b % 3 ? same_gpu_mbps : 12'000, 0};
    });
    EXPECT_EQ(ring_order(weights, 6), identity(6));
}

}  // namespace
}  // namespace baton::topology
