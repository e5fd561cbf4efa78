#pragma once

#include <cstdint>

#include "sync/arena.hpp"
#include "transport/kernel/warp.cuh"

/// Single instructions of a kernel's thread that C++ has no words for. The tests have a file of this name that does the
/// same with threads of the host (tests/emulation).
///
/// Loads are `ld.global.cg` in volatile asm with a memory clobber:
///  - Peers write this memory while the kernel runs, so the read-only path (ld.global.nc), which the compiler would
///    choose by itself for const __restrict__ pointers, is wrong.
///  - The acquire of a wait and the block barrier after it make a peer's data visible. The compiler must not move loads
///    across them: hence volatile and the clobber.
///  - A line that L1 has kept from an earlier use of the same staging is stale. .cg reads from L2, where peers' writes
///    arrive. Data that is read once has nothing to gain from L1.
/// Stores are plain weak ones, local or to a peer: the release that follows orders them.
namespace baton::core {
inline namespace on_device {

__device__ inline uint4 load_word(const uint4 *at) {
    uint4 word;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(at)
                 : "memory");
    return word;
}
__device__ inline std::uint64_t load_word(const std::uint64_t *at) {
    std::uint64_t word;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
    return word;
}
/// Loads a word that is dropped if not `used`: others may be writing it then. It is loaded all the same, without a
/// branch. The stand-in of tests/emulation, which finds data races, does not touch an unused word.
__device__ inline std::uint64_t load_word_or_other(const std::uint64_t *at, bool /*used*/) { return load_word(at); }
__device__ inline std::uint32_t load_word(const std::uint32_t *at) {
    std::uint32_t word;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}
__device__ inline std::uint16_t load_word(const std::uint16_t *at) {
    std::uint16_t word;
    asm volatile("ld.global.cg.u16 %0, [%1];" : "=h"(word) : "l"(at) : "memory");
    return word;
}
__device__ inline std::uint8_t load_word(const std::uint8_t *at) {
    std::uint32_t word;
    asm volatile("ld.global.cg.u8 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return static_cast<std::uint8_t>(word);
}

__device__ inline void store_word(uint4 *at, uint4 word) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(word.x), "r"(word.y), "r"(word.z),
                 "r"(word.w)
                 : "memory");
}
__device__ inline void store_word(std::uint64_t *at, std::uint64_t word) {
    asm volatile("st.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ inline void store_word(std::uint32_t *at, std::uint32_t word) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
__device__ inline void store_word(std::uint16_t *at, std::uint16_t word) {
    asm volatile("st.global.u16 [%0], %1;" ::"l"(at), "h"(word) : "memory");
}
__device__ inline void store_word(std::uint8_t *at, std::uint8_t word) {
    asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(static_cast<std::uint32_t>(word)) : "memory");
}

/// Returns what the next thread of the warp gives; in the last thread, what the first gives. All threads of the warp
/// call it together.
__device__ inline uint4 word_of_next_thread(const uint4 &given) {
    const int next = static_cast<int>((threadIdx.x + 1) % warp_threads);
    return {__shfl_sync(full_mask, given.x, next), __shfl_sync(full_mask, given.y, next),
            __shfl_sync(full_mask, given.z, next), __shfl_sync(full_mask, given.w, next)};
}

// These do nothing if not `when`; a load then returns zero.
__device__ inline std::uint32_t load_when(const std::uint32_t *at, bool when) {
    std::uint32_t word;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; mov.b32 %0, 0; @p ld.global.cg.u32 %0, [%1];}"
                 : "=&r"(word)
                 : "l"(at), "r"(static_cast<unsigned>(when))
                 : "memory");
    return word;
}
__device__ inline std::uint32_t load_when(const std::uint8_t *at, bool when) {
    std::uint32_t word;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; mov.b32 %0, 0; @p ld.global.cg.u8 %0, [%1];}"
                 : "=&r"(word)
                 : "l"(at), "r"(static_cast<unsigned>(when))
                 : "memory");
    return word;
}
__device__ inline void store_when(std::uint64_t *at, std::uint64_t word, bool when) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u64 [%0], %1;}" ::"l"(at), "l"(word),
                 "r"(static_cast<unsigned>(when))
                 : "memory");
}
__device__ inline void store_when(std::uint32_t *at, std::uint64_t word, bool when) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1;}" ::"l"(at),
                 "r"(static_cast<std::uint32_t>(word)), "r"(static_cast<unsigned>(when))
                 : "memory");
}
__device__ inline void store_when(std::uint8_t *at, std::uint64_t word, bool when) {
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u8 [%0], %1;}" ::"l"(at),
                 "r"(static_cast<std::uint32_t>(word)), "r"(static_cast<unsigned>(when))
                 : "memory");
}

/// What a thread holds of a line. In the last of a line's eight threads the high word is the epoch.
struct alignas(16) LineWords {
    std::uint64_t low;
    std::uint64_t high;
};

/// Stores this thread's part of a line (sync/data_line.hpp). All threads of the warp call it together.
__device__ inline void store_line_part(std::byte *at, const LineWords &words, bool when) {
    asm volatile(
        "{\n\t"
        ".reg .pred when;\n\t"
        ".reg .b128 word;\n\t"
        "setp.ne.u32 when, %3, 0;\n\t"
        "mov.b128 word, {%1, %2};\n\t"
        "@when st.relaxed.sys.global.b128 [%0], word;\n\t"
        "}" ::"l"(at),
        "l"(words.low), "l"(words.high), "r"(static_cast<unsigned>(when))
        : "memory");
}
/// Loads this thread's part likewise; zeros if not `when`.
__device__ inline LineWords load_line_part(const std::byte *at, bool when) {
    LineWords words;
    asm volatile(
        "{\n\t"
        ".reg .pred when;\n\t"
        ".reg .b128 word;\n\t"
        "setp.ne.u32 when, %3, 0;\n\t"
        "mov.b64 %0, 0;\n\t"
        "mov.b64 %1, 0;\n\t"
        "mov.b128 word, {%0, %1};\n\t"
        "@when ld.relaxed.sys.global.b128 word, [%2];\n\t"
        "mov.b128 {%0, %1}, word;\n\t"
        "}"
        : "=&l"(words.low), "=&l"(words.high)
        : "l"(at), "r"(static_cast<unsigned>(when))
        : "memory");
    return words;
}

/// What lies there now. It is loaded as two words, not as one of 16 bytes, since peers may store one of them meanwhile.
__device__ inline ChannelStart load_start(const ChannelStart *at) {
    ChannelStart start;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(start.abort), "=l"(start.epoch)
                 : "l"(at)
                 : "memory");
    return start;
}

/// Stores a word that hands memory back. Once the peer sees it, the reads that the block made before a barrier, or the
/// warp before a vote on what it read, are over. The word says nothing of stores: that would take a release.
/// docs/memory_model.md argues why this suffices.
__device__ inline void store_after_reads(std::uint64_t *word, std::uint64_t value) { store_relaxed(word, value); }
/// Loads such a word: what was read before it was stored may now be written.
__device__ inline std::uint64_t load_before_writes(const std::uint64_t *word) { return load_relaxed(word); }

}  // namespace on_device
}  // namespace baton::core
