// Calls after MPI_Finalize are refused, and a communicator that nobody destroyed does no harm at exit. No GoogleTest
// main: MPI ends here in the middle.
#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "support/environment.hpp"

namespace {

int failures = 0;

void expect_refused(baton_result result, const char *call) {
    if (result == BATON_ERR_ARGUMENT && std::strstr(baton_last_error(), "MPI_Finalize") != nullptr) return;
    std::fprintf(stderr, "%s after MPI_Finalize: %s: %s\n", call, baton_result_name(result), baton_last_error());
    ++failures;
}

}  // namespace

int main(int argc, char **argv) {
    baton_comm_t early = nullptr;
    if (baton_comm_create(MPI_COMM_WORLD, nullptr, &early) != BATON_ERR_ARGUMENT ||
        std::strstr(baton_last_error(), "MPI_Init") == nullptr) {
        std::fprintf(stderr, "create before MPI_Init: %s\n", baton_last_error());
        ++failures;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &baton::test::environment().rank);
    MPI_Comm_size(MPI_COMM_WORLD, &baton::test::environment().size);
    baton::test::select_device();
    baton_comm_t comm = nullptr;
    if (baton_comm_create(MPI_COMM_WORLD, nullptr, &comm) != BATON_SUCCESS) {
        std::fprintf(stderr, "baton_comm_create: %s\n", baton_last_error());
        ++failures;
    }
    MPI_Finalize();
    int value = 0;
    baton_comm_t late = nullptr;
    expect_refused(baton_allreduce(BATON_IN_PLACE, &value, 1, BATON_INT32, BATON_SUM, comm, nullptr),
                   "baton_allreduce");
    expect_refused(baton_barrier(comm, nullptr), "baton_barrier");
    expect_refused(baton_comm_create(MPI_COMM_WORLD, nullptr, &late), "baton_comm_create");
    expect_refused(baton_comm_destroy(comm), "baton_comm_destroy");
    return failures == 0 ? 0 : 1;
}
