#include "comm/links_of.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "collectives/gpu_setup.hpp"
#include "topology/components.hpp"
#include "topology/graph.hpp"
#include "topology/links.hpp"

namespace baton::core {
namespace {

using topology::CommAdvice;
using topology::EdgeWeight;
using topology::RankPair;

/// Whether the ratio of two bandwidths means something: between a told and an assumed one it is of our own making.
bool comparable(const RankPair &a, const RankPair &b) { return a.basis == b.basis; }

bool clearly_slower(const RankPair &pair, const RankPair &than) {
    return comparable(pair, than) && pair.weight.mbps <= than.weight.mbps / 2;
}

void for_pairs(const CommAdvice &advice, const std::function<void(std::size_t, std::size_t, const RankPair &)> &see) {
    for (std::size_t a = 0; a < advice.ranks.size(); ++a)
        for (std::size_t b = a + 1; b < advice.ranks.size(); ++b) see(a, b, advice.pair(a, b));
}

/// Returns for each rank the number of its group: ranks that links of at least `mbps` join, maybe by way of others.
/// Groups are numbered by their first ranks.
std::vector<int> groups_above(const CommAdvice &advice, int mbps) {
    return topology::components(advice.ranks.size(), [&](std::size_t a, std::size_t b) {
        const RankPair &pair = advice.pair(a, b);
        return pair.linked && pair.weight.mbps >= mbps;
    });
}

/// Whether the groups are islands, as links_of() defines them. `slowest`: of the links within groups.
bool are_islands(const CommAdvice &advice, const std::vector<int> &group, const RankPair &slowest) {
    bool several_gpus = false;
    bool shared_ways = false;  // if every pair across has its own links, crossing once spares none of them
    bool good = true;
    for_pairs(advice, [&](std::size_t a, std::size_t b, const RankPair &pair) {
        if (group[a] == group[b]) {
            several_gpus = several_gpus || !pair.same_gpu;
            good = good && pair.linked && pair.weight.mbps >= slowest.weight.mbps;
        } else {
            shared_ways = shared_ways || !pair.own_links;
            good = good && (!pair.linked || clearly_slower(pair, slowest));
        }
    });
    return good && several_gpus && shared_ways;
}

std::vector<int> find_islands(const CommAdvice &advice) {
    std::map<int, RankPair> by_speed;
    std::set<topology::Basis> bases;
    for_pairs(advice, [&](std::size_t, std::size_t, const RankPair &pair) {
        if (!pair.linked || pair.same_gpu) return;
        by_speed.insert({pair.weight.mbps, pair});
        bases.insert(pair.basis);
    });
    // With several bases only pairs with and without links can be told apart, and all links count.
    if (bases.size() > 1) by_speed.erase(std::next(by_speed.begin()), by_speed.end());
    for (const auto &[mbps, slowest] : by_speed) {
        std::vector<int> group = groups_above(advice, mbps);
        if (are_islands(advice, group, slowest)) return group;
    }
    return {};
}

/// Returns a list for people: its first elements, and if there are more, how many in all. REQUIRES: at least two.
template <class T>
std::string listed(const std::vector<T> &all, const char *between, const char *before_last) {
    constexpr std::size_t most = 16;
    if (all.size() <= most)
        return fmt::format("{}{}{}", fmt::join(all.begin(), all.end() - 1, between), before_last, all.back());
    return fmt::format("{}{}... ({} in all)", fmt::join(all.begin(), all.begin() + most, between), between, all.size());
}

std::string islands_text(const std::vector<int> &island_of_rank) {
    const int count = *std::max_element(island_of_rank.begin(), island_of_rank.end()) + 1;
    std::vector<std::ptrdiff_t> sizes;
    for (int one = 0; one < count; ++one)
        sizes.push_back(std::count(island_of_rank.begin(), island_of_rank.end(), one));
    const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](auto size) { return size == sizes[0]; });
    if (equal) return fmt::format("{} NVLink islands of {} ranks", count, sizes[0]);
    return fmt::format("{} NVLink islands, of {} ranks", count, listed(sizes, ", ", " and "));
}

bool ring_pays(const CommAdvice &advice) {
    const std::vector<int> &order = advice.ring.order;
    const RankPair *in_ring = nullptr;
    for (std::size_t index = 0; index < order.size(); ++index) {
        const RankPair &edge = advice.pair(static_cast<std::size_t>(order[index]),
                                           static_cast<std::size_t>(order[(index + 1) % order.size()]));
        if (in_ring == nullptr || edge.weight < in_ring->weight) in_ring = &edge;
    }
    const RankPair *worst = nullptr;
    bool all_linked = true;
    for_pairs(advice, [&](std::size_t, std::size_t, const RankPair &pair) {
        if (worst == nullptr || pair.weight < worst->weight) worst = &pair;
        all_linked = all_linked && pair.linked;
    });
    if (in_ring->weight.direct != worst->weight.direct) return in_ring->weight.direct;
    if (!all_linked) {
        if (in_ring->linked && !worst->linked && !comparable(*in_ring, *worst)) return true;  // NVLink against PCIe
        return in_ring->weight > worst->weight && clearly_slower(*worst, *in_ring);
    }
    const auto steps = static_cast<std::int64_t>(order.size()) - 1;
    return comparable(*in_ring, *worst) && in_ring->weight.mbps > steps * worst->weight.mbps;
}

std::string ring_text(const CommAdvice &advice) {
    const auto &ring = advice.ring;
    const std::string speed =
        ring.bottleneck_mbps.known() ? fmt::format(" of {} GB/s", topology::gbps_text(ring.bottleneck_mbps.value)) : "";
    return fmt::format("every step of the ring {} has {}{}, other pairs less (the weakest: {})",
                       listed(ring.order, "-", "-"), topology::link_name(ring.bottleneck_kind), speed,
                       topology::link_name(advice.weakest));
}

}  // namespace

Links links_of(const CommAdvice &advice) {
    Links links;
    links.why = advice.why;
    bool known = true;
    std::set<EdgeWeight> weights;
    for_pairs(advice, [&](std::size_t, std::size_t, const RankPair &pair) {
        known = known && pair.known;
        if (!pair.same_gpu) weights.insert(pair.weight);
    });
    links.all_alike = known && advice.uniform;
    if (!known) links.why = "nobody says how all ranks are linked";
    if (!known || advice.ranks.size() < 3 || weights.size() < 2) return links;
    if (std::vector<int> island_of_rank = find_islands(advice); !island_of_rank.empty()) {
        links.shape = Links::Shape::islands;
        links.why = islands_text(island_of_rank);
        links.island_of_rank = std::move(island_of_rank);
    } else if (ring_pays(advice)) {
        links.shape = Links::Shape::ring;
        links.why = ring_text(advice);
        links.ring = advice.ring.order;
    }
    return links;
}

bool lines_arrive_whole(const Links &links, const std::vector<int> &generations) {
    const auto is_hopper = [](int generation) { return generation == DeviceIdentity::hopper; };
    return generations.empty() || (links.all_nvlink && std::all_of(generations.begin(), generations.end(), is_hopper));
}

std::string describe(const Links &links) {
    constexpr const char *names[] = {"uniform", "islands", "ring"};
    return fmt::format("{}: {}", names[static_cast<int>(links.shape)], links.why);
}

}  // namespace baton::core
