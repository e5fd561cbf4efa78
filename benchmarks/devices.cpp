#include "devices.hpp"

#include "gpu.hpp"

namespace baton::bench {

MemorySpace choose_memory_space(const World &world, Device device) {
    if (device == Device::automatic) {
        return world.all(gpu::count() > 0) ? MemorySpace::gpu : MemorySpace::host;
    }
    return device == Device::cuda ? MemorySpace::gpu : MemorySpace::host;
}

void select_gpu(const World &world) {
    if (!world.all(gpu::count() > 0)) {
        throw Refusal(
            "a rank has no usable GPU (no device, no driver, or a build without CUDA); --device host (in the "
            "OSU-style ones -d host) runs on host memory");
    }
    gpu::select(world.local_rank() % gpu::count());
}

}  // namespace baton::bench
