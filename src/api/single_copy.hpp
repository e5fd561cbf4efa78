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

/// What it takes to bring so many bytes from one rank to another, as the mean over the ranks, each from the next one.
struct CopyTimes {
    std::uint64_t bytes;
    double single_us;  // by one copy of the system
    double staged_us;  // by a copy into shared memory and one out of it
    bool staging_pays() const { return staged_us < single_us; }
};

/// How the two compare depends on the processor, the kernel and the hypervisor: 4.9 us against 8.6 on one machine, 5.6
/// against 1.7 on another (docs/experiments.md). REQUIRES: single_copies_work().
CopyTimes time_copies(const CommView &view, Bootstrap &bootstrap);

}  // namespace baton::core
