#pragma once

// What nvcc knows by itself, for the kernels' sources on the host (block.hpp). Included before all other headers in a
// file that includes such a source: these find ptx.cuh and CUDA's own headers in the folder cuda beside this file.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulation/block.hpp"
#include "sync/region_lookup.hpp"
#include "sync/wait.hpp"

#define BATON_EMULATED 1
#define __device__
#define __global__
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
// A block is a thread of the host. spoil_shared_memory() finds these variables.
#define __shared__ static thread_local

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

inline void __syncthreads() { baton::emulation::barrier(baton::emulation::Gather::block, true); }
inline int __syncthreads_or(int vote) {
    return baton::emulation::barrier(baton::emulation::Gather::block, vote != 0).any ? 1 : 0;
}
inline int __syncthreads_and(int vote) {
    return baton::emulation::barrier(baton::emulation::Gather::block, vote != 0).all ? 1 : 0;
}
inline void __syncwarp() { baton::emulation::barrier(baton::emulation::Gather::warp, true); }
inline int __any_sync(unsigned /*mask*/, int vote) {
    return baton::emulation::barrier(baton::emulation::Gather::warp, vote != 0).any ? 1 : 0;
}
inline int __all_sync(unsigned /*mask*/, int vote) {
    return baton::emulation::barrier(baton::emulation::Gather::warp, vote != 0).all ? 1 : 0;
}
/// What needs a whole warp is done behind a barrier of the warp (cuda/transport/kernel/ptx.cuh): threads that have
/// parted show there.
inline unsigned __activemask() { return 0xFFFFFFFF; }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> shift % 32);
}
[[noreturn]] inline void __trap() { std::abort(); }
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// On a GPU all three are relaxed. By the last two, blocks count each other behind what they have read
// (store_after_reads() in ptx.cuh). Here they acquire and release, since no weaker order that ThreadSanitizer knows
// does that.
inline unsigned long long atomicMax(unsigned long long *word, unsigned long long value) {
    baton::emulation::touches();
    const std::atomic_ref<unsigned long long> at(*word);
    unsigned long long old = at.load(std::memory_order_relaxed);
    while (old < value && !at.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
    }
    return old;
}
inline unsigned long long atomicAdd(unsigned long long *word, unsigned long long value) {
    baton::emulation::touches();
    return std::atomic_ref<unsigned long long>(*word).fetch_add(value, std::memory_order_acq_rel);
}
inline unsigned atomicInc(unsigned *word, unsigned last) {
    baton::emulation::touches();
    const std::atomic_ref<unsigned> at(*word);
    unsigned old = at.load(std::memory_order_relaxed);
    while (!at.compare_exchange_weak(old, old >= last ? 0 : old + 1, std::memory_order_acq_rel)) {
    }
    return old;
}

/// Words of src/sync as kernels have them. Waits and arrivals (sync/wait.hpp) are the host's: ThreadSanitizer would not
/// know the orders that arrivals rely on (docs/memory_model.md). So are lookups of regions, since a program that also
/// has the host's must have the same ones: the block is not told of them, and for ThreadSanitizer the copy of an entry
/// orders who has stored it before who loads it, which it does not on a GPU.
namespace baton::core {

/// Relaxed. Fences tie the payload to the epoch; for ThreadSanitizer they order nothing.
inline void store_packet_of_kernel(Packet *packet, std::uint64_t payload, std::uint64_t epoch) {
    emulation::touches();
    store_relaxed(&packet->payload, payload);
    std::atomic_thread_fence(std::memory_order_release);
    store_relaxed(&packet->epoch, epoch);
}
inline Packet load_packet_of_kernel(const Packet *packet) {
    emulation::touches();
    Packet value;
    value.epoch = load_relaxed(&packet->epoch);
    std::atomic_thread_fence(std::memory_order_acquire);
    value.payload = load_relaxed(&packet->payload);
    return value;
}
inline void store_release_of_kernel(std::uint64_t *word, std::uint64_t value) {
    emulation::releases();
    store_release(word, value);
}

}  // namespace baton::core

#define store_packet store_packet_of_kernel
#define load_packet load_packet_of_kernel
#define store_release store_release_of_kernel
