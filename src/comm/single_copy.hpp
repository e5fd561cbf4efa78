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

inline constexpr std::uint64_t measured_copy = 65536;

/// What it takes to bring measured_copy bytes from one rank to another, as the mean over the ranks, each from the next
/// one.
struct CopyTimes {
    double single_us;  // by one copy of the system
    double staged_us;  // by a copy into shared memory and one out of it
    /// Staged data is used where it lies, or copied while the next piece comes: where both take as long, operations
    /// with staging take 0.65 to 0.9 of the time (2 ranks, AMD EPYC); where single copies take 0.57, 1.1 to 1.7 times
    /// (Intel).
    static constexpr double most_for_staging = 1.25;
    bool staging_pays() const { return staged_us < most_for_staging * single_us; }
};

/// How the two compare depends on the processor, the system and the hypervisor (docs/experiments.md). The source is not
/// written in between, as benchmarks and baton_tune do not write it either. REQUIRES: single_copies_work(), segments of
/// measured_copy bytes or more.
CopyTimes time_copies(const CommView &view, Bootstrap &bootstrap);

}  // namespace baton::core
