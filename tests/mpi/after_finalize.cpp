// Calls after MPI_Finalize are refused, and a communicator that nobody destroyed does no harm at exit. Static
// objects may still call. No GoogleTest main: MPI ends here in the middle.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "support/environment.hpp"
#include "support/mpi_calls.hpp"

namespace {

int failures = 0;

void expect_refused(baton_result result, const char *call) {
    if (result == BATON_ERR_ARGUMENT && std::strstr(baton_last_error(), "MPI_Finalize") != nullptr) return;
    std::fprintf(stderr, "%s after MPI_Finalize: %s: %s\n", call, baton_result_name(result), baton_last_error());
    ++failures;
}

/// A static object of the application's calls when its thread's variables have gone, the message of the last failure
/// among them: memory that is the application's by now.
struct CallsAtExit {
    ~CallsAtExit() {
        std::vector<std::string> blocks;
        for (std::size_t size = 16; size < 512; ++size) blocks.emplace_back(size, 'x');
        failures = 0;
        expect_refused(baton_barrier(nullptr, nullptr), "baton_barrier at exit");
        for (const std::string &block : blocks) {
            if (block.find_first_not_of('x') == block.npos) continue;
            std::fprintf(stderr, "a call at exit wrote to memory of the application's\n");
            ++failures;
        }
        if (failures != 0) std::_Exit(1);
    }
} const calls_at_exit;

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
    const baton::test::MpiCalls &calls = baton::test::mpi_calls();
    if (calls.receive_in_flight != nullptr || calls.receives == 0) {
        std::fprintf(stderr,
                     calls.receives != 0 ? "a receive is posted over MPI_Finalize\n" : "this test sees no receive\n");
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
