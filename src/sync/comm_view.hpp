#pragma once

#include <cstdint>

#include "memory/region.hpp"
#include "sync/arena.hpp"
#include "sync/control.hpp"
#include "util/limits.hpp"

namespace baton::core {

/// What an operation sees of its communicator: plain data, passed to kernels by value and to host workers by reference.
/// Constant from creation to destruction.
struct CommView {
    std::int32_t rank = 0;
    std::int32_t size = 0;
    bool arenas_on_host = false;  // those of GPUs' ranks
    std::uint32_t polls_between_yields = polls_between_yields_alone;
    std::uint64_t timeout_ns = 0;
    Control *control = nullptr;
    const RegionEntry *regions = nullptr;  // [size][region_slots], in host memory; use region_address()
    ArenaLayout layout;
    std::byte *own_memory = nullptr;  // of OwnWords
    std::byte *arenas[max_ranks] = {};

    /// Whether there are more ranks than processors: a rank that waits may hold the processor of the one it waits for.
    bool ranks_share_processors() const { return polls_between_yields != polls_between_yields_alone; }
    BATON_HD Arena arena(int owner) const { return {arenas[owner], &layout}; }
    BATON_HD Arena own() const { return arena(rank); }
    BATON_HD OwnWords own_words() const { return {own_memory, &layout}; }
    BATON_HD const RegionEntry *region(int owner, std::uint64_t slot) const {
        return regions + static_cast<std::uint64_t>(owner) * region_slots + slot;
    }
};

}  // namespace baton::core
