#include "support/environment.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "support/needs_gpu.hpp"

#if BATON_WITH_CUDA
#include <cuda_runtime.h>

#include <filesystem>
#include <sstream>
#include <vector>
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

namespace {

#if BATON_WITH_CUDA
int rank_on_node() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int rank = 0;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    return rank;
}

/// The GPUs as CUDA_VISIBLE_DEVICES names them. If it is unset, from the driver's files: asking CUDA would make it read
/// the variable.
std::vector<std::string> names_of_gpus() {
    std::vector<std::string> names;
    if (const char *visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
        std::istringstream list(visible);
        for (std::string name; std::getline(list, name, ',');) names.push_back(name);
        return names;
    }
    for (const auto &file : std::filesystem::directory_iterator("/dev")) {
        const std::string name = file.path().filename();
        if (name.size() > 6 && name.compare(0, 6, "nvidia") == 0 &&
            name.find_first_not_of("0123456789", 6) == std::string::npos)
            names.push_back(std::to_string(names.size()));
    }
    return names;
}

/// Shows this process one GPU, before the first CUDA call. Returns why there is none to show; empty if there is.
std::string show_one_gpu(int local_rank) {
    const std::vector<std::string> gpus = names_of_gpus();
    if (gpus.empty()) return "none to show to the rank alone";
    const std::string &mine = gpus[static_cast<std::size_t>(local_rank) % gpus.size()];
    setenv("CUDA_VISIBLE_DEVICES", mine.c_str(), 1);
    int visible = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&visible); error != cudaSuccess) return cudaGetErrorString(error);
    if (visible <= 1) return visible == 1 ? "" : "0 devices";
    std::fprintf(stderr, "[rank %d] CUDA_VISIBLE_DEVICES=%s came too late: %d GPUs are seen\n", world_rank(),
                 mine.c_str(), visible);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return "";
}
#endif

/// Returns why this rank has no device now; empty if it has one.
std::string try_to_select() {
#if BATON_WITH_CUDA
    const int local_rank = rank_on_node();
    if (std::getenv("BATON_TEST_ONE_GPU_VISIBLE") != nullptr)
        if (const std::string reason = show_one_gpu(local_rank); !reason.empty()) return reason;
    int devices = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess)
        return std::string("cudaGetDeviceCount: ") + cudaGetErrorString(error);
    if (devices == 0) return "0 devices";
    if (const cudaError_t error = cudaSetDevice(local_rank % devices); error != cudaSuccess)
        return std::string("cudaSetDevice: ") + cudaGetErrorString(error);
    environment().device = local_rank % devices;
    return "";
#else
    return "a build without CUDA";
#endif
}

}  // namespace

void select_device() {
    const char *transport = std::getenv("BATON_TRANSPORT");
    if (transport != nullptr && std::strcmp(transport, "host") == 0) return;
    const std::string reason = try_to_select();
    if (reason.empty() || !needs_gpu()) return;
    std::fprintf(stderr, "[rank %d] BATON_TEST_NEEDS_GPU is set, and this rank has no GPU: %s\n", world_rank(),
                 reason.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
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
