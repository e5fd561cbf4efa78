#pragma once

#include <cstdint>

#include "bootstrap/bootstrap.hpp"
#include "sync/comm_view.hpp"

/// The host's direct way into other processes, process_vm_readv and process_vm_writev: whether it is open, and whether
/// it is worth taking. Both are collective, for ranks that are processes of their own and have mapped each other's
/// arenas, and say the same on all ranks.
namespace baton::core {

/// Every rank reads a word of every other and writes it back next to it.
bool single_copies_work(const CommView &view, Bootstrap &bootstrap);

inline constexpr std::uint64_t measured_bytes = 262144;
/// What staging is measured with: the least segment for it.
inline constexpr std::uint64_t measured_segment = 65536;

/// What it takes a rank to bring measured_bytes to the next one and to get as many, while all do so: the least of a few
/// times, of the slowest rank. Infinite if a rank has waited too long.
struct CopyTimes {
    double single_us;  // by one copy of the system
    double staged_us;  // in pieces, by copies into shared memory and out of it
};

/// How the two compare depends on the processor, the system, and where the hypervisor has the processors
/// (docs/experiments.md). The source is not written in between, as benchmarks and baton_tune do not write it either.
/// REQUIRES: single_copies_work(), segments of measured_segment bytes or more.
CopyTimes time_copies(const CommView &view, Bootstrap &bootstrap);

}  // namespace baton::core
