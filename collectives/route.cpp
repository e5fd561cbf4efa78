#include "collectives/route.hpp"

#include <algorithm>
#include <cstddef>

#include "collectives/links.hpp"

namespace baton::core {
namespace {

class Builder {
public:
    Builder(int rank, bool all_alike) : rank_(rank) { route_.all_alike = all_alike; }

    void add(int rank) {
        if (rank == rank_) {
            route_.own_group = route_.groups;
            route_.own_place = static_cast<std::uint8_t>(next_ - route_.begin[route_.groups]);
        }
        route_.order[next_++] = static_cast<std::uint8_t>(rank);
    }
    void end_group() {
        const auto size = static_cast<std::uint8_t>(next_ - route_.begin[route_.groups]);
        route_.lanes = route_.groups == 0 ? size : std::min(route_.lanes, size);
        route_.begin[++route_.groups] = next_;
    }
    const Route &route() const { return route_; }

private:
    const int rank_;
    std::uint8_t next_ = 0;
    Route route_;
};

}  // namespace

bool Route::in_rank_order() const { return std::is_sorted(order, order + begin[groups]); }

Route make_route(const Links &links, int rank, int ranks) {
    Builder builder(rank, links.all_alike);
    if (links.shape != Links::Shape::islands) {
        const bool ring = links.shape == Links::Shape::ring;
        for (int place = 0; place < ranks; ++place) {
            builder.add(ring ? links.ring[static_cast<std::size_t>(place)] : place);
            builder.end_group();
        }
        return builder.route();
    }
    const auto &island = links.island_of_rank;
    for (auto first = island.begin(); first != island.end(); ++first) {
        if (std::find(island.begin(), first, *first) != first) continue;  // an earlier rank's island
        for (auto mate = first; mate != island.end(); ++mate) {
            if (*mate == *first) builder.add(static_cast<int>(mate - island.begin()));
        }
        builder.end_group();
    }
    return builder.route();
}

}  // namespace baton::core
