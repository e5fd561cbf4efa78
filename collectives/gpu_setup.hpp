#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sync/comm_view.hpp"
#include "sync/control.hpp"

/// What a communicator on a GPU needs at its creation, and its release.
namespace baton::core {

/// Collective, at creation: proves with written and verified words that this rank's kernels reach every peer's memory
/// and back. Returns a bit for each peer that it does not reach. `barrier` brings the ranks together.
std::uint64_t probe_peers(const CommView &view, int device, const std::function<void()> &barrier);

/// Loads every kernel now. Otherwise its first launch does, which may wait for kernels that run, and so for peers.
void preload_kernels();

/// Pinned host memory that kernels reach, zeroed, made on the thread's device; released from any thread.
Control *allocate_control();
void release_control(Control *control);

struct DeviceIdentity {
    std::string name;
    std::string uuid;    // "GPU-..." as nvidia-smi prints it
    int generation = 0;  // major number of its compute capability
    static constexpr int hopper = 9;
    int multiprocessors = 0;  // that this process may use: fewer by MIG, or MPS (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE)
};
DeviceIdentity device_identity(int device);

/// Index in `uuids` of a GPU that `device` cannot access directly, as CUDA says; -1 if CUDA knows of none. It knows
/// nothing of GPUs that this process does not see: for them the probe tells.
int first_out_of_reach(int device, const std::vector<std::string> &uuids);

/// Zeroes device memory and waits for it.
void clear_device(int device, void *memory, std::size_t bytes);

}  // namespace baton::core
