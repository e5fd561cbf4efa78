#include <stdexcept>
#include <string>

#include "bare_kernels.hpp"

namespace baton::bench {

namespace {

__global__ void empty_kernel() {}

__device__ std::uint64_t nanoseconds() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ std::uint64_t load_relaxed(const std::uint64_t *word) {
    std::uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}

__device__ void store_relaxed(std::uint64_t *word, std::uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

/// Returns false at the deadline.
__device__ bool wait_for(const std::uint64_t *word, std::uint64_t value, std::uint64_t deadline) {
    for (unsigned poll = 1; load_relaxed(word) != value; ++poll) {
        if (poll % 4096 == 0 && nanoseconds() > deadline) {
            return false;
        }
    }
    return true;
}

__global__ void ping_pong_kernel(std::uint64_t *mine, std::uint64_t *theirs, std::uint64_t flag, std::uint64_t trips,
                                 bool starts, std::uint64_t timeout) {
    const std::uint64_t deadline = nanoseconds() + timeout;
    for (std::uint64_t trip = 1; trip <= trips; ++trip) {
        if (starts) {
            store_relaxed(theirs, flag + trip);
        }
        if (!wait_for(mine, flag + trip, deadline)) {
            return;
        }
        if (!starts) {
            store_relaxed(theirs, flag + trip);
        }
    }
}

void check_launch(const char *what) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        throw std::runtime_error(std::string("launching ") + what + ": " + cudaGetErrorString(error));
    }
}

}  // namespace

void launch_empty_kernel(cudaStream_t stream) {
    empty_kernel<<<1, 32, 0, stream>>>();
    check_launch("an empty kernel");
}

void launch_ping_pong(std::uint64_t *mine, std::uint64_t *theirs, std::uint64_t flag, std::uint64_t trips, bool starts,
                      double timeout_seconds, cudaStream_t stream) {
    ping_pong_kernel<<<1, 1, 0, stream>>>(mine, theirs, flag, trips, starts,
                                          static_cast<std::uint64_t>(timeout_seconds * 1e9));
    check_launch("a ping-pong");
}

}  // namespace baton::bench
