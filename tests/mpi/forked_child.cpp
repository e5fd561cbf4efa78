// A child that was forked after MPI_Init is refused, even if its parent has not called Baton before: it has the
// parent's MPI, and would take the parent's place among the ranks. No GoogleTest main, since that one calls Baton.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "support/environment.hpp"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const pid_t child = fork();
    if (child == 0) {
        baton_comm_t comm = nullptr;
        const baton_result result = baton_comm_create(MPI_COMM_SELF, nullptr, &comm);
        const bool refused =
            result == BATON_ERR_ARGUMENT && std::strstr(baton_last_error(), "was forked after MPI_Init") != nullptr;
        if (!refused) std::fprintf(stderr, "in the child: %s: %s\n", baton_result_name(result), baton_last_error());
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    baton::test::select_device();
    baton_comm_t comm = nullptr;
    baton_result result = baton_comm_create(MPI_COMM_WORLD, nullptr, &comm);
    if (result == BATON_SUCCESS) result = baton_comm_destroy(comm);
    if (result != BATON_SUCCESS) std::fprintf(stderr, "the parent: %s\n", baton_last_error());
    MPI_Finalize();
    return status == 0 && result == BATON_SUCCESS ? 0 : 1;
}
