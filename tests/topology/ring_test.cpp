#include "topology/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

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

/// All sequences from 0, in rising order: the first of the best.
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

}  // namespace
}  // namespace baton::topology
