#pragma once

#include <cstdint>

#include "collectives/args.hpp"
#include "util/hd.hpp"
#include "util/limits.hpp"

namespace baton::core {

struct Links;

/// What algorithms know of the links: the ranks in groups, through which data passes one after the other. The groups
/// are the islands, ordered by their first ranks; or single ranks, in the order of a ring where there is one, else in
/// rank order. Plain data, so that kernels can be given it.
struct Route {
    std::uint8_t groups = 0;
    std::uint8_t own_group = 0;
    std::uint8_t own_place = 0;              // in the group
    std::uint8_t lanes = 0;                  // size of the smallest group
    bool all_alike = false;                  // Links::all_alike
    std::uint8_t order[max_ranks] = {};      // the ranks, group by group
    std::uint8_t begin[max_ranks + 1] = {};  // where each group begins in `order`, and where the last one ends

    BATON_HD int size_of(int group) const { return begin[group + 1] - begin[group]; }
    BATON_HD int rank_of(int group, int place) const { return order[begin[group] + place]; }
    /// Whether going through the groups meets the ranks in the order 0, 1, 2, ...
    bool in_rank_order() const;
};

/// The route as `rank` of `ranks` sees it.
Route make_route(const Links &links, int rank, int ranks);

/// The arguments of algorithms that need a route.
struct RoutedArgs : CollectiveArgs {
    Route route;
    bool begins_in_lines = false;  // lines can go from rank to rank (has_line_rings), and so can a pipeline's head
};

}  // namespace baton::core
