#pragma once

#include <cstdint>

#include "util/hd.hpp"

#if !defined(__CUDA_ARCH__)
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#endif

/// The few machine operations that the synchronisation code needs, for GPU threads and host threads alike. With them
/// the waits and the algorithms are the same source on both, so that ThreadSanitizer sees on the host what runs on the
/// GPU.
///
/// All words that ranks share are 64-bit and naturally aligned. Scope is the system: the other side is another GPU,
/// another process, or both.
namespace baton::core {

BATON_HD inline std::uint64_t load_relaxed(const std::uint64_t *word) {
#if defined(__CUDA_ARCH__)
    std::uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
#else
    return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t *>(word)).load(std::memory_order_relaxed);
#endif
}

BATON_HD inline std::uint64_t load_acquire(const std::uint64_t *word) {
#if defined(__CUDA_ARCH__)
    std::uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
#else
    return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t *>(word)).load(std::memory_order_acquire);
#endif
}

BATON_HD inline void store_relaxed(std::uint64_t *word, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
#else
    std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_relaxed);
#endif
}

/// Release is cumulative: it covers what other threads of the block wrote before a __syncthreads() that precedes it,
/// and what kernels and copies before this one in its stream have written (in another domain: docs/memory_model.md).
BATON_HD inline void store_release(std::uint64_t *word, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
#else
    std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
#endif
}

/// Takes a claim word of this rank from 0 to 1; true for the one thread that did it. Only threads of this rank compete.
BATON_HD inline bool claim_once(std::uint64_t *word) {
#if defined(__CUDA_ARCH__)
    return atomicExch(reinterpret_cast<unsigned long long *>(word), 1ULL) == 0;
#else
    return std::atomic_ref<std::uint64_t>(*word).exchange(1, std::memory_order_acq_rel) == 0;
#endif
}

/// Nanoseconds of a clock that all threads of this rank share. Ranks never compare theirs.
BATON_HD inline std::uint64_t clock_ns() {
#if defined(__CUDA_ARCH__)
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
#endif
}

/// How many polls a host thread makes before it yields its processor. Few where a communicator has more ranks than
/// processors that they may run on: the rank that is waited for may need this one. Elsewhere a rank that yields would
/// only make room for other programs, whose time slices are much longer than a message.
inline constexpr std::uint32_t polls_between_yields_alone = 16384;
inline constexpr std::uint32_t polls_between_yields_oversubscribed = 64;

BATON_HD inline void relax_between_polls(std::uint32_t polls, std::uint32_t polls_between_yields) {
#if !defined(__CUDA_ARCH__)
    if (polls % polls_between_yields == 0) sched_yield();
#else
    (void)polls;
    (void)polls_between_yields;
#endif
}

/// A GPU thread that has polled a word this often (some 50 us) pauses between polls. Where 48 blocks or more wait for
/// the end of copies beside them and poll without pauses, the copies take some 5 % longer (docs/experiments.md).
inline constexpr std::uint32_t polls_before_pauses = 64;

BATON_HD inline void pause_between_polls() {
#if defined(__CUDA_ARCH__)
    constexpr unsigned nanoseconds = 1000;
    __nanosleep(nanoseconds);
#endif
}

/// For a host thread that has waited so long that a tenth of a millisecond more does not matter.
BATON_HD inline void rest() {
#if !defined(__CUDA_ARCH__)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
#endif
}

}  // namespace baton::core
