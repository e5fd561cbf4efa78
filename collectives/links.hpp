#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton::core {

/// How the ranks' GPUs are linked, as far as plans depend on it; the same on all ranks.
struct Links {
    enum class Shape : std::uint8_t {
        uniform,  // every pair alike, or nobody knows
        islands,  // fast within an island, slow between them
        ring      // fast between neighbours of the ring only
    };
    Shape shape = Shape::uniform;
    std::vector<int> ring;            // ring: all ranks, each once; ring[i] sends to ring[i + 1], the last to the first
    std::vector<int> island_of_rank;  // islands: their numbers, two at least
    std::string why;                  // the topology fact, for people: "2 NVLink islands of 4 ranks"
    bool all_alike = false;           // every pair is known and like all others: no order of ranks beats another
    bool all_nvlink = false;          // every pair has NVLinks in any form, or shares a GPU; not by overrides alone
};

}  // namespace baton::core
