#pragma once

#include "world.hpp"

namespace baton::bench {

/// Where the buffers of a communicator's calls lie.
enum class MemorySpace {
    host,
    gpu
};

/// What --device asks for; automatic: GPUs where every rank has one.
enum class Device {
    automatic,
    cuda,
    host
};

/// Collective.
MemorySpace choose_memory_space(const World &world, Device device);
/// Collective. The ranks of a machine take turns at the GPUs that they see. Throws a Refusal where one sees none.
void select_gpu(const World &world);

}  // namespace baton::bench
