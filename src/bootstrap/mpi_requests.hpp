#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "util/kept.hpp"

namespace baton::core {

/// Throws BATON_ERR_MPI with MPI's words unless `code`, which `call` returned, is MPI_SUCCESS.
void check_mpi(int code, const char *call);

/// What is in flight, and the memory that MPI reads and writes meanwhile. Where a wait is given up it is kept: MPI may
/// use it until MPI_Finalize.
struct MpiRequests : Kept {
    /// Of `bytes_sent` and `bytes_received` in all.
    explicit MpiRequests(std::size_t count, std::size_t bytes_sent = 0, std::size_t bytes_received = 0)
        : requests(count, MPI_REQUEST_NULL), sent(bytes_sent), received(bytes_received) {}

    /// Whether all are complete. MPI goes on with them in here only.
    bool complete(const char *call);

    std::vector<MPI_Request> requests;
    std::vector<std::byte> sent;
    std::vector<std::byte> received;
    MPI_Comm duplicate = MPI_COMM_NULL;  // written by MPI_Comm_idup
};

/// The same of a call that has begun with `active`: where it was refused, what of it may be under way is kept.
void check_begun(int code, const char *call, std::unique_ptr<MpiRequests> &active);

}  // namespace baton::core
