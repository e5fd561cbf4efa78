#pragma once

#include <mpi.h>

namespace baton::test {

/// What this process has asked MPI for, by Baton's own calls too: mpi_calls.cpp, linked into a test, stands before
/// MPI's functions. For the thread that calls them.
struct MpiCalls {
    int sends = 0;                                   ///< MPI_Isend
    int receives = 0;                                ///< MPI_Irecv
    const MPI_Request *receive_in_flight = nullptr;  ///< the last one, until MPI_Test has found its end
};

MpiCalls &mpi_calls();

}  // namespace baton::test
