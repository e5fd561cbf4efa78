#include "support/environment.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#if BATON_WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace baton::test {

Environment &environment() {
    static Environment instance;
    return instance;
}

std::string describe(baton_result result) {
    if (result == BATON_SUCCESS) return baton_result_name(result);
    return std::string(baton_result_name(result)) + ": " + baton_last_error();
}

::testing::AssertionResult succeeded(const char *expression, baton_result result) {
    if (result == BATON_SUCCESS) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << expression << "\n  returned " << describe(result);
}

void select_device() {
#if BATON_WITH_CUDA
    int devices = 0;
    const char *transport = std::getenv("BATON_TRANSPORT");
    if (transport != nullptr && std::strcmp(transport, "host") == 0) return;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return;
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int local_rank = 0;
    MPI_Comm_rank(node, &local_rank);
    MPI_Comm_free(&node);
    environment().device = local_rank % devices;
    if (cudaSetDevice(environment().device) != cudaSuccess) environment().device = -1;
#endif
}

void use_device() {
#if BATON_WITH_CUDA
    if (environment().device < 0) return;
    EXPECT_EQ(cudaSuccess, cudaSetDevice(environment().device));
#endif
}

void barrier() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    const auto start = std::chrono::steady_clock::now();
    for (int done = 0; done == 0;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done != 0) return;
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited > std::chrono::seconds(60)) {
            std::fprintf(stderr, "[rank %d] the ranks are out of step: somebody left a test early\n", world_rank());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        // A peer that waits for a timeout, or other tests, can use the processor.
        waited < std::chrono::milliseconds(20) ? std::this_thread::yield()
                                               : std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

bool any_rank(bool mine) {
    int flag = mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return flag != 0;
}

}  // namespace baton::test
