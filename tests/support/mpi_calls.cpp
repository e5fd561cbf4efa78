#include "support/mpi_calls.hpp"

namespace baton::test {

MpiCalls &mpi_calls() {
    static MpiCalls calls;
    return calls;
}

}  // namespace baton::test

using baton::test::mpi_calls;

// Exported, so that the library finds these before MPI's own.
#pragma GCC visibility push(default)

extern "C" int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request *request) {
    ++mpi_calls().receives;
    mpi_calls().receive_in_flight = request;
    return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
}

extern "C" int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                         MPI_Request *request) {
    ++mpi_calls().sends;
    return PMPI_Isend(buffer, count, type, destination, tag, comm, request);
}

extern "C" int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
    const int result = PMPI_Test(request, done, status);
    if (request == mpi_calls().receive_in_flight && *request == MPI_REQUEST_NULL)
        mpi_calls().receive_in_flight = nullptr;
    return result;
}

#pragma GCC visibility pop
