#pragma once

#include <cstdint>

#include "emulation/block.hpp"
#include "sync/arena.hpp"

/// The functions of src/transport/kernel/ptx.cuh, for threads of the host. Data are loaded and stored by plain
/// accesses, so that ThreadSanitizer sees what no word has ordered. The block is told of each access (block.hpp).
namespace baton::core {
inline namespace on_device {

template <class Word>
Word load_word(const Word *at) {
    emulation::touches();
    return *at;
}
inline std::uint64_t load_word_or_other(const std::uint64_t *at, bool used) { return used ? load_word(at) : 0; }
template <class Word>
void store_word(Word *at, Word word) {
    emulation::stores(at);
    *at = word;
}

inline uint4 word_of_next_thread(const uint4 &given) {
    constexpr unsigned warp = 32;
    static thread_local uint4 words[1024];  // a block is a thread of the host
    words[threadIdx.x] = given;
    emulation::barrier(emulation::Gather::warp, true);
    const uint4 next = words[threadIdx.x / warp * warp + (threadIdx.x + 1) % warp];
    emulation::barrier(emulation::Gather::warp, true);
    return next;
}

inline std::uint32_t load_when(const std::uint32_t *at, bool when) { return when ? load_word(at) : 0; }
inline std::uint32_t load_when(const std::uint8_t *at, bool when) { return when ? load_word(at) : 0U; }
template <class Word>
void store_when(Word *at, std::uint64_t word, bool when) {
    if (when) store_word(at, static_cast<Word>(word));
}

struct alignas(16) LineWords {
    std::uint64_t low;
    std::uint64_t high;
};

/// The last of a line's eight threads has the epoch. It is stored after the data and loaded before them. A warp's
/// barrier stands for the one instruction. The barrier also orders the warp's other lines, which the instruction does
/// not: code that relied on that would not show here. A line orders no other memory, as on a GPU: for ThreadSanitizer
/// fences are no order.
inline bool has_epoch() { return threadIdx.x % 8 == 7; }
inline void store_line_part(std::byte *at, const LineWords &words, bool when) {
    emulation::touches();
    auto *const place = reinterpret_cast<std::uint64_t *>(at);
    if (when) store_relaxed(place, words.low);
    if (when && !has_epoch()) store_relaxed(place + 1, words.high);
    emulation::barrier(emulation::Gather::warp, true);
    std::atomic_thread_fence(std::memory_order_release);
    if (when && has_epoch()) store_relaxed(place + 1, words.high);
}
inline LineWords load_line_part(const std::byte *at, bool when) {
    emulation::touches();
    const auto *const place = reinterpret_cast<const std::uint64_t *>(at);
    LineWords words{0, 0};
    if (when && has_epoch()) words.high = load_relaxed(place + 1);
    std::atomic_thread_fence(std::memory_order_acquire);
    emulation::barrier(emulation::Gather::warp, true);
    if (when) words.low = load_relaxed(place);
    if (when && !has_epoch()) words.high = load_relaxed(place + 1);
    return words;
}

inline ChannelStart load_start(const ChannelStart *at) {
    emulation::touches();
    return {.abort = load_relaxed(&at->abort), .epoch = load_relaxed(&at->epoch), .halves = 0};
}

/// A release and an acquire, so that ThreadSanitizer sees whether the reads are over. The block checks that they cover
/// no stores.
inline void store_after_reads(std::uint64_t *word, std::uint64_t value) {
    emulation::tells_without_release(word);
    std::atomic_ref<std::uint64_t>(*word).store(value, std::memory_order_release);
}
inline std::uint64_t load_before_writes(const std::uint64_t *word) {
    emulation::touches();
    return load_acquire(word);
}

}  // namespace on_device
}  // namespace baton::core
