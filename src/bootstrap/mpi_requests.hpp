#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "util/kept.hpp"

namespace baton::core {

/// Throws BATON_ERR_MPI with MPI's words unless `code`, which `call` returned, is MPI_SUCCESS.
void check_mpi(int code, const char *call);

/// What is in flight, and the memory that MPI reads and writes meanwhile. If a wait is given up both are kept: MPI may
/// use them until MPI_Finalize.
struct MpiRequests : Kept {
    /// `bytes_sent` and `bytes_received` are totals of all requests.
    explicit MpiRequests(std::size_t count, std::size_t bytes_sent = 0, std::size_t bytes_received = 0)
        : requests(count, MPI_REQUEST_NULL), sent(bytes_sent), received(bytes_received) {}

    /// Whether all are complete. MPI makes progress with them only in here.
    bool complete(const char *call);

    std::vector<MPI_Request> requests;
    std::vector<std::byte> sent;
    std::vector<std::byte> received;
    MPI_Comm duplicate = MPI_COMM_NULL;  // written by MPI_Comm_idup
};

/// Like check_mpi(). If the call, which has begun with `active`, was refused, `active` is kept: MPI may still use it.
void check_begun(int code, const char *call, std::unique_ptr<MpiRequests> &active);

}  // namespace baton::core
