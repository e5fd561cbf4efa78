#pragma once

#include "sync/comm_view.hpp"

namespace baton::core {

/// The address in this process of a buffer that a peer's arrival names; nullptr if the region's generation is gone.
///
/// The table lies in host memory, so that the service thread writes it with plain stores. It must not need the GPU:
/// while a thread of the application sits in cudaMemcpy or cudaFree behind a kernel of ours that waits for a peer,
/// copies and kernel launches of the whole process wait too, and streams that share a hardware queue with that kernel
/// do as well (measured, CUDA 13.0; docs/gpu_testing.md); the peer may be waiting for just this line. Reading it over
/// PCIe costs about a microsecond, so kernels keep a copy in their arena: all that write a line at once write the same
/// values, and a line's generation is stored last, with release. A line is replaced only when its owner has sent an
/// arrival with a newer generation, and then nothing of the older one is in flight.
BATON_HD inline std::byte *region_address(const CommView &view, int owner, const BufferRef &buffer) {
    const RegionEntry *line = view.region(owner, buffer.slot());
#if defined(__CUDA_ARCH__)
    RegionEntry *cached = view.own().cached_region(owner, buffer.slot());
    if (static_cast<std::uint32_t>(load_acquire(&cached->generation)) == buffer.generation) {
        return reinterpret_cast<std::byte *>(load_relaxed(&cached->address)) + buffer.offset();
    }
#endif
    const std::uint64_t generation = load_acquire(&line->generation);
    if (static_cast<std::uint32_t>(generation) != buffer.generation) return nullptr;
    const std::uint64_t address = load_relaxed(&line->address);
#if defined(__CUDA_ARCH__)
    store_relaxed(&cached->address, address);
    store_release(&cached->generation, generation);
#endif
    return reinterpret_cast<std::byte *>(address) + buffer.offset();
}

}  // namespace baton::core
