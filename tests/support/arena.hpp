#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "support/fixture.hpp"

namespace baton::test {

/// Memory that all ranks have mapped since before the first test. While there is an arena, every Buffer on a GPU is cut
/// from it; mpi_main.cpp makes one if BATON_TEST_ARENA is set. It is for compute-sanitizer memcheck, which knows the
/// allocations and mappings that there were when a kernel was launched, and reports as out of bounds what Baton maps
/// while kernels wait for it (docs/gpu_testing.md). Giving memory back waits for nobody, unlike cudaFree: after a call
/// that has failed a peer may still write there.
class Arena {
public:
    Arena();  ///< collective; on host memory nothing is taken from it
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    /// The arena of the process, or nullptr.
    static Arena *get();

    /// Memory aligned to 256 bytes; throws std::runtime_error when there is no room. From any thread.
    std::byte *take(std::size_t bytes);
    void give_back(std::byte *memory);

private:
    static constexpr std::size_t size = std::size_t{2} << 30;

    Communicator comm_;
    baton_window_t window_ = nullptr;
    std::byte *start_ = nullptr;
    std::mutex mutex_;
    std::map<std::size_t, std::size_t> taken_;  ///< begin of a piece, and its end
};

}  // namespace baton::test
