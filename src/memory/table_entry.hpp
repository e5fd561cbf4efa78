#pragma once

#include <atomic>

#include "memory/region.hpp"

namespace baton::core {

/// Writes an entry of a table in host memory, at `place`. Readers are ordered by the arrival that names the slot (see
/// RegionEntry). The atomics only keep a look at an entry that is being reused (a broken protocol) from being undefined
/// behaviour as well.
inline void write_entry(RegionEntry &place, const RegionEntry &entry) {
    std::atomic_ref(place.generation).store(0, std::memory_order_relaxed);
    std::atomic_ref(place.address).store(entry.address, std::memory_order_relaxed);
    std::atomic_ref(place.generation).store(entry.generation, std::memory_order_release);
}

}  // namespace baton::core
