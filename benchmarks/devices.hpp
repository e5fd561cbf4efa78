#pragma once

#include "world.hpp"

namespace baton::bench {

/// Where the buffers of a communicator's calls lie.
enum class MemorySpace {
    host,
    gpu
};

/// What --device asks for. automatic: GPUs if every rank has one.
enum class Device {
    automatic,
    cuda,
    host
};

/// Collective.
MemorySpace choose_memory_space(const World &world, Device device);
/// Collective. Rank r of a machine selects GPU r % (GPUs that it sees). Throws a Refusal if a rank sees none.
void select_gpu(const World &world);

}  // namespace baton::bench
