#pragma once

#include <cstddef>
#include <memory>

#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// Zeroed memory that all ranks map, one slice per rank. Ranks open it by a random name and check that it belongs to
/// their user. The name is unlinked before the constructor returns, so that nothing is left behind however the
/// processes end. The destructor is local: a broken communicator can drop it without waiting for anybody. (MPI_Win_free
/// is collective; that is why this is not MPI_Win_allocate_shared.) The pages are allocated at once: too little
/// /dev/shm is BATON_ERR_MEMORY naming the size and the free space, not a later SIGBUS.
class SharedSegment {
public:
    /// Collective. Every rank passes the same number.
    SharedSegment(Bootstrap &bootstrap, std::size_t bytes_per_rank);
    SharedSegment(const SharedSegment &) = delete;
    SharedSegment &operator=(const SharedSegment &) = delete;

    std::byte *slice(int rank) const { return base_ + static_cast<std::size_t>(rank) * bytes_per_rank_; }
    std::size_t bytes_per_rank() const { return bytes_per_rank_; } /* rounded up to whole pages */
    std::size_t total_bytes() const { return total_bytes_; }

private:
    std::byte *base_ = nullptr;
    std::size_t bytes_per_rank_ = 0;
    std::size_t total_bytes_ = 0;
    std::shared_ptr<void> mapping_;  // unmaps; one for all ranks where they are threads of one process
};

}  // namespace baton::core
