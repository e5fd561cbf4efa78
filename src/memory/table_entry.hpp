#pragma once

#include <atomic>

#include "memory/region.hpp"

namespace baton::core {

/// Writes a line of a table in host memory. Readers are ordered by the arrival that names the slot (see RegionEntry);
/// the atomics only keep a look at a line that is being reused (a broken protocol) from being undefined behaviour as
/// well.
inline void write_entry(RegionEntry &line, const RegionEntry &entry) {
    std::atomic_ref(line.generation).store(0, std::memory_order_relaxed);
    std::atomic_ref(line.address).store(entry.address, std::memory_order_relaxed);
    std::atomic_ref(line.generation).store(entry.generation, std::memory_order_release);
}

}  // namespace baton::core
