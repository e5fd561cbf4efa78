#include "bootstrap/mpi_requests.hpp"

#include <utility>

#include "util/failure.hpp"

namespace baton::core {

void check_mpi(int code, const char *call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw failure_of(BATON_ERR_MPI, "{}: {}", call, text);
}

void check_begun(int code, const char *call, std::unique_ptr<MpiRequests> &active) {
    if (code != MPI_SUCCESS) Kept::keep(std::move(active));
    check_mpi(code, call);
}

bool MpiRequests::complete(const char *call) {
    bool all_done = true;
    for (MPI_Request &request : requests) {
        int done = 0;
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
        all_done = all_done && done != 0;
    }
    return all_done;
}

}  // namespace baton::core
