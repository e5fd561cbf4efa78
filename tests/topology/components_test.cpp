#include "topology/components.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace baton::topology {
namespace {

using Numbers = std::vector<int>;

Numbers of_edges(std::size_t count, const std::set<std::pair<std::size_t, std::size_t>> &edges) {
    return components(count, [&](std::size_t a, std::size_t b) { return edges.contains(std::minmax(a, b)); });
}

TEST(Components, AreConnectedByWayOfOthersAndNumberedBySmallestMembers) {
    EXPECT_EQ(of_edges(6, {{0, 4}, {1, 3}, {3, 4}}), (Numbers{0, 0, 1, 0, 0, 2}));
    EXPECT_EQ(of_edges(5, {{1, 4}, {0, 2}}), (Numbers{0, 1, 0, 2, 1}));
}

TEST(Components, WithoutEdgesOrMembers) {
    EXPECT_EQ(of_edges(3, {}), (Numbers{0, 1, 2}));
    EXPECT_EQ(of_edges(0, {}), Numbers());
}

}  // namespace
}  // namespace baton::topology
