#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/kernel/shifted_words.cuh"

/// Copying by one block. All threads of a one-dimensional block call with the same arguments. Nobody waits inside:
/// barriers, and the release that publishes the threads' stores, are the caller's. Pointers may have any alignment, and
/// be local or a peer's; sizes may exceed 4 GiB. ptx.cuh says why loads and stores look as they do.
namespace baton::core {
inline namespace on_device {

/// A range divided into 16-byte words and, around them, a head and a tail that are not aligned. Sizes are in units of
/// `unit` bytes. For pointers that agree modulo 16.
struct AlignedPart {
    std::size_t head;   // units before the first aligned word
    std::size_t words;  // aligned words
    std::size_t body;   // the units in them
};

__device__ inline AlignedPart aligned_part(const void *pointer, std::size_t count, std::size_t unit) {
    std::size_t head = (16 - address_of(pointer) % 16) % 16 / unit;
    if (head > count) head = count;
    const std::size_t words = (count - head) / (16 / unit);
    return {head, words, words * (16 / unit)};
}

/// aligned_part() of a destination whose sources lie differently (ShiftedWords). Leaves out the first and the last
/// word, since loads for these would begin before a source or end behind it. Begins at a 128-byte line of `lined`,
/// which is the destination or a source, as a rule the peer's: a warp then touches no more lines there than it must.
__device__ inline AlignedPart inner_part(const void *destination, std::size_t count, std::size_t unit,
                                         const void *lined) {
    constexpr std::size_t words_of_line = 8;
    const AlignedPart all = aligned_part(destination, count, unit);
    const std::size_t left_out = words_of_line - (address_of(lined) + all.head * unit) / 16 % words_of_line;
    if (all.words <= left_out + 1) return {count, 0, 0};
    const std::size_t words = all.words - left_out - 1;
    return {all.head + left_out * (16 / unit), words, words * (16 / unit)};
}

/// Bits in which the pointers differ from `reference`, so that "co-aligned to w" is (difference & (w - 1)) == 0.
template <class Pointer>
__device__ inline std::uintptr_t address_difference(const Pointer *pointers, int count, const void *reference) {
    std::uintptr_t difference = 0;
    for (int j = 0; j < count; ++j) difference |= address_of(pointers[j]) ^ address_of(reference);
    return difference;
}

/// Copies up to `unroll` words from word `base` on, a block's width apart. All loads are under way before the first
/// store. `whole`: none of them lies behind `words`.
template <int unroll, bool whole>
__device__ inline void copy_round(uint4 *to, const uint4 *from, std::size_t base, std::size_t words) {
    const std::size_t stride = blockDim.x;
    uint4 held[unroll];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        if (whole || base + k * stride < words) held[k] = load_word(from + base + k * stride);
    }
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        if (whole || base + k * stride < words) store_word(to + base + k * stride, held[k]);
    }
}

/// Copies words [0, words) from source + offset to destination + offset (in bytes).
__device__ inline void copy_words(void *destination, const void *source, std::size_t offset, std::size_t words) {
    constexpr int unroll = 8;
    auto *const to = reinterpret_cast<uint4 *>(static_cast<char *>(destination) + offset);
    const auto *const from = reinterpret_cast<const uint4 *>(static_cast<const char *>(source) + offset);
    const std::size_t stride = blockDim.x;
    std::size_t base = threadIdx.x;
    for (; base + (unroll - 1) * stride < words; base += unroll * stride) {
        copy_round<unroll, true>(to, from, base, words);
    }
    if (base < words) copy_round<unroll, false>(to, from, base, words);
}

/// Copies the bytes before and after the words.
__device__ inline void copy_edges(void *destination, const void *source, const AlignedPart &aligned,
                                  std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes - aligned.body; i += blockDim.x) {
        const std::size_t at = i < aligned.head ? i : i + aligned.body;
        store_word(static_cast<std::uint8_t *>(destination) + at,
                   load_word(static_cast<const std::uint8_t *>(source) + at));
    }
}

template <int unroll, bool whole>
__device__ inline void copy_shifted_round(uint4 *to, const char *from, const WarpRounds<unroll> &rounds) {
    ShiftedWords<unroll> held;
    held.template load<whole>(from, rounds);
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        const uint4 word = held.word(k);
        if (whole || rounds.has(k)) store_word(to + rounds.place(k), word);
    }
}

/// copy_block() where source and destination do not agree modulo 16. Not inlined: rare, and it has loops of its own.
__device__ __noinline__ inline void copy_shifted(void *destination, const void *source, std::size_t bytes) {
    constexpr int unroll = 8;
    const AlignedPart aligned = inner_part(destination, bytes, 1, destination);
    auto *const to = reinterpret_cast<uint4 *>(static_cast<char *>(destination) + aligned.head);
    const char *const from = static_cast<const char *>(source) + aligned.head;
    WarpRounds<unroll> rounds(aligned.words);
    for (; rounds.is_whole(); rounds.advance()) copy_shifted_round<unroll, true>(to, from, rounds);
    if (rounds.has_any()) copy_shifted_round<unroll, false>(to, from, rounds);
    copy_edges(destination, source, aligned, bytes);
}

/// Copies `bytes`. Source and destination must not overlap, unless they are equal.
__device__ inline void copy_block(void *destination, const void *source, std::size_t bytes) {
    if (bytes == 0) return;
    const std::uintptr_t difference = address_of(destination) ^ address_of(source);
    if (difference % 16 != 0) return copy_shifted(destination, source, bytes);
    const AlignedPart aligned = aligned_part(source, bytes, 1);
    copy_words(destination, source, aligned.head, aligned.words);
    copy_edges(destination, source, aligned, bytes);
}

/// Copies words [0, words) of two copies side by side. All loads of a round, of both, are under way before its first
/// store.
template <int unroll>
__device__ inline void copy_words_of_two(void *const (&destinations)[2], const void *const (&sources)[2],
                                         std::size_t offset, std::size_t words) {
    const std::size_t stride = blockDim.x;
    for (std::size_t base = threadIdx.x; base < words; base += unroll * stride) {
        uint4 held[2][unroll];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const auto *from = reinterpret_cast<const uint4 *>(static_cast<const char *>(sources[j]) + offset) + base;
#pragma unroll
            for (int k = 0; k < unroll; ++k) {
                if (base + k * stride < words) held[j][k] = load_word(from + k * stride);
            }
        }
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            auto *const to = reinterpret_cast<uint4 *>(static_cast<char *>(destinations[j]) + offset) + base;
#pragma unroll
            for (int k = 0; k < unroll; ++k) {
                if (base + k * stride < words) store_word(to + k * stride, held[j][k]);
            }
        }
    }
}

/// copy_block(), not inlined, for operations that copy at several places.
__device__ __noinline__ inline void copy_by_call(void *destination, const void *source, std::size_t bytes) {
    copy_block(destination, source, bytes);
}

/// Two copies of `bytes` each, which flow together: a copy to a peer leaves idle the memory that one within this GPU
/// needs. The sources may be the same; nothing else may overlap.
__device__ __noinline__ inline void copy_two(void *destination_0, const void *source_0, void *destination_1,
                                             const void *source_1, std::size_t bytes) {
    void *const destinations[2] = {destination_0, destination_1};
    const void *const sources[2] = {source_0, source_1};
    const std::uintptr_t difference =
        address_difference(destinations, 2, source_0) | address_difference(sources, 2, source_0);
    if (difference % 16 != 0) {
        copy_by_call(destination_0, source_0, bytes);
        copy_by_call(destination_1, source_1, bytes);
        return;
    }
    const AlignedPart aligned = aligned_part(source_0, bytes, 1);
    copy_words_of_two<4>(destinations, sources, aligned.head, aligned.words);
    copy_edges(destination_0, source_0, aligned, bytes);
    copy_edges(destination_1, source_1, aligned, bytes);
}

}  // namespace on_device
}  // namespace baton::core
