#pragma once

#include "sync/comm_view.hpp"

namespace baton::core {

/// Where a peer's buffer is: the table's entry of its region, or this rank's copy of the entry.
///
/// The table lies in host memory, so that the service thread writes it with plain stores. That thread must not need the
/// GPU: while a thread of the application sits in cudaMemcpy or cudaFree behind a kernel of ours that waits for a peer,
/// copies and kernel launches of the whole process wait too (measured, CUDA 13.0; docs/gpu_testing.md), and the peer
/// may be waiting for just this entry.
///
/// Reading the table over PCIe takes long, so kernels keep copies among their own words: address and generation in one
/// packet. Kernels store and load it as one 16-byte word, so that all who write a copy at once write the same whole.
/// Host threads keep copies too, so that there is one way, although either load costs them the same; one of them at a
/// time, the address before the generation, and read the other way round. A copy is replaced only when the region's
/// owner has sent an arrival with a newer generation, and then nothing of the older one is in flight.

/// Loads the copy. Separate from region_address(), so that several loads are in flight together.
BATON_HD inline Packet cached_region(const CommView &view, int owner, const BufferRef &buffer) {
    if (buffer.is_in_region()) return load_packet(view.own_words().cached_region(owner, buffer.slot()));
    return {};
}

/// The address, as below, from the table itself; keeps a copy of the entry.
BATON_HD BATON_NOINLINE inline std::byte *region_address(const CommView &view, int owner, BufferRef buffer) {
    const RegionEntry *entry = view.region(owner, buffer.slot());
    const std::uint64_t generation = load_acquire(&entry->generation);
    if (static_cast<std::uint32_t>(generation) != buffer.generation) return nullptr;
    const std::uint64_t address = load_relaxed(&entry->address);
    store_packet(view.own_words().cached_region(owner, buffer.slot()), address, generation);
    return reinterpret_cast<std::byte *>(address) + buffer.offset();
}

/// The address in this process of a buffer that a peer's arrival names; nullptr if the region's generation is gone.
BATON_HD inline std::byte *region_address(const CommView &view, int owner, const BufferRef &buffer,
                                          const Packet &cached) {
    if (cached.epoch != 0 && static_cast<std::uint32_t>(cached.epoch) == buffer.generation) {
        return reinterpret_cast<std::byte *>(cached.payload) + buffer.offset();
    }
    return region_address(view, owner, buffer);
}

}  // namespace baton::core
