#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/element/lanes.hpp"
#include "transport/kernel/word.cuh"

/// Copying and reducing by one block. All threads of a one-dimensional block call with the same arguments; nobody waits
/// inside, so the caller puts its barriers around. The results of one thread's stores are published by the caller's
/// release. Pointers may have any alignment, be local or of a peer; sizes may exceed 4 GiB. Why loads and stores look
/// as they do is written in ptx.cuh. The names are those of host/move.hpp, in an inline namespace, so that shared code
/// finds the ones of the header that its file includes.
namespace baton::core {
inline namespace on_device {

/// A block's share of a range of 16-byte words between a head and a tail that are not aligned: sizes in units of
/// `unit` bytes, for pointers that agree modulo 16.
struct AlignedPart {
    std::size_t head;   // units before the first aligned word
    std::size_t words;  // aligned words
    std::size_t body;   // the units in them
};

__device__ inline AlignedPart aligned_part(const void *pointer, std::size_t count, std::size_t unit,
                                           std::size_t word = 16) {
    std::size_t head = (word - address_of(pointer) % word) % word / unit;
    if (head > count) head = count;
    const std::size_t words = (count - head) / (word / unit);
    return {head, words, words * (word / unit)};
}

/// Bits in which the pointers differ from `reference`, so that "co-aligned to w" is (difference & (w - 1)) == 0.
template <class Pointer>
__device__ inline std::uintptr_t address_difference(const Pointer *pointers, int count, const void *reference) {
    std::uintptr_t difference = 0;
    for (int j = 0; j < count; ++j) difference |= address_of(pointers[j]) ^ address_of(reference);
    return difference;
}

/// Up to `unroll` words from word `base` on, a block's width apart: all loads are under way before the first store.
/// `whole`: none of them lies behind `words`.
template <class Word, int unroll, bool whole>
__device__ inline void copy_round(Word *to, const Word *from, std::size_t base, std::size_t words) {
    const std::size_t stride = blockDim.x;
    Word held[unroll];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        if (whole || base + k * stride < words) held[k] = load_word(from + base + k * stride);
    }
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        if (whole || base + k * stride < words) store_word(to + base + k * stride, held[k]);
    }
}

/// Words [0, words) from source + offset to destination + offset (in bytes).
template <class Word>
__device__ inline void copy_words(void *destination, const void *source, std::size_t offset, std::size_t words) {
    constexpr int unroll = 8;
    auto *const to = reinterpret_cast<Word *>(static_cast<char *>(destination) + offset);
    const auto *const from = reinterpret_cast<const Word *>(static_cast<const char *>(source) + offset);
    const std::size_t stride = blockDim.x;
    std::size_t base = threadIdx.x;
    for (; base + (unroll - 1) * stride < words; base += unroll * stride) {
        copy_round<Word, unroll, true>(to, from, base, words);
    }
    if (base < words) copy_round<Word, unroll, false>(to, from, base, words);
}

/// The bytes before and after the words that copy_words() moves.
__device__ inline void copy_edges(void *destination, const void *source, const AlignedPart &aligned,
                                  std::size_t bytes) {
    for (std::size_t i = threadIdx.x; i < bytes - aligned.body; i += blockDim.x) {
        const std::size_t at = i < aligned.head ? i : i + aligned.body;
        store_word(static_cast<std::uint8_t *>(destination) + at,
                   load_word(static_cast<const std::uint8_t *>(source) + at));
    }
}

/// Where source and destination do not agree modulo 16. Not inlined: rare, and five loops of code.
__device__ __noinline__ inline void copy_narrow(void *destination, const void *source, std::size_t bytes,
                                                std::uintptr_t difference) {
    const std::size_t width = difference % 8 == 0 ? 8 : difference % 4 == 0 ? 4 : difference % 2 == 0 ? 2 : 1;
    const AlignedPart aligned = aligned_part(source, bytes, 1, width);
    copy_edges(destination, source, aligned, bytes);
    if (width == 8) {
        copy_words<std::uint64_t>(destination, source, aligned.head, aligned.words);
    } else if (width == 4) {
        copy_words<std::uint32_t>(destination, source, aligned.head, aligned.words);
    } else if (width == 2) {
        copy_words<std::uint16_t>(destination, source, aligned.head, aligned.words);
    } else {
        copy_words<std::uint8_t>(destination, source, aligned.head, aligned.words);
    }
}

/// Copies `bytes`. Source and destination do not overlap, unless they are equal.
__device__ inline void copy_block(void *destination, const void *source, std::size_t bytes) {
    if (bytes == 0) return;
    const std::uintptr_t difference = address_of(destination) ^ address_of(source);
    if (difference % 16 != 0) return copy_narrow(destination, source, bytes, difference);
    const AlignedPart aligned = aligned_part(source, bytes, 1);
    copy_words<uint4>(destination, source, aligned.head, aligned.words);
    copy_edges(destination, source, aligned, bytes);
}

/// Words [0, words) of two copies, side by side: all loads of both are under way before the first store.
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

/// copy_block() for operations that copy at several places.
__device__ __noinline__ inline void copy_by_call(void *destination, const void *source, std::size_t bytes) {
    copy_block(destination, source, bytes);
}

/// Two copies of `bytes` each, which flow together: one to a peer leaves the memory idle that one within this GPU
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

/// Sources that a thread loads before it adds, where their number is not known to the compiler.
inline constexpr int reduce_batch = 8;

/// From so many words of each of 4 sources on, more are loaded at once: long parts take 1 to 2 % less then, short ones
/// up to 8 % longer (docs/experiments.md).
inline constexpr std::size_t long_words = 12288;

inline constexpr int any_op = -1;

/// Up to `unroll` words of each source from word `base` on, a block's width apart: all loads are under way before the
/// first store, so a destination may be one of the sources. `op_known`: the operation, where SUM stands for AVG too;
/// then none of the words lies behind `words`, and this may stand in a loop, where a word that is loaded or not would
/// keep the last round's value in a register.
template <class T, int op_known, int sources_known, int unroll>
__device__ inline void reduce_round(T *const *destinations, int destination_count,
                                    const uint4 *const (&from)[sources_known], std::size_t offset, std::size_t base,
                                    std::size_t words, int op) {
    constexpr bool whole = op_known != any_op;
    const std::size_t stride = blockDim.x;
    uint4 held[unroll][sources_known];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        if (!whole && base + k * stride >= words) continue;
#pragma unroll
        for (int s = 0; s < sources_known; ++s) held[k][s] = load_word(from[s] + base + k * stride);
    }
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
        if (!whole && base + k * stride >= words) continue;
        Lanes<T, uint4> lanes;
        lanes.start(held[k][0]);
        const auto join_all = [&](auto constant) {
#pragma unroll
            for (int s = 1; s < sources_known; ++s) lanes.join(constant, held[k][s]);
        };
        if constexpr (whole) {
            join_all(std::integral_constant<int, op_known>{});
        } else {
            with_op(op, join_all);
        }
        const uint4 word = lanes.result(whole && op_known != BATON_SUM ? op_known : op, sources_known);
        for (int j = 0; j < destination_count; ++j) {
            store_word(reinterpret_cast<uint4 *>(destinations[j] + offset) + base + k * stride, word);
        }
    }
}

/// 16-byte words [0, words) from `offset` bytes on, for a number of sources that is known, with unroll * sources loads
/// in flight. A loop for each operation: few warps have little to do beside their own arithmetic.
template <class T, int sources_known, int unroll>
__device__ inline void reduce_words_of(T *const *destinations, int destination_count, const T *const *sources,
                                       std::size_t offset, std::size_t words, int op) {
    const uint4 *from[sources_known];
#pragma unroll
    for (int s = 0; s < sources_known; ++s) from[s] = reinterpret_cast<const uint4 *>(sources[s] + offset);
    const std::size_t stride = blockDim.x;
    std::size_t base = threadIdx.x;
    with_op(op, [&](auto constant) {
        for (; base + (unroll - 1) * stride < words; base += unroll * stride) {
            reduce_round<T, constant, sources_known, unroll>(destinations, destination_count, from, offset, base, words,
                                                             op);
        }
    });
    if (base < words) {
        reduce_round<T, any_op, sources_known, unroll>(destinations, destination_count, from, offset, base, words, op);
    }
}

template <class Word>
__device__ inline Word load_anywhere(const Word *at) {
    if constexpr (sizeof(Word) == 16) {
        return load_word(at);  // reduce_block() has checked
    } else {
        if (address_of(at) % sizeof(Word) == 0) return load_word(at);
        return static_cast<Word>(load_bytes(at, sizeof(Word)));
    }
}

template <class Word>
__device__ inline void store_anywhere(Word *at, const Word &word) {
    if constexpr (sizeof(Word) == 16) {
        store_word(at, word);
    } else if (address_of(at) % sizeof(Word) == 0) {
        store_word(at, word);
    } else {
        store_bytes(at, word, sizeof(Word));
    }
}

/// One word, at `element` elements from each pointer, of any number of sources.
template <class T, class Word>
__device__ inline void reduce_one(T *const *destinations, int destination_count, const T *const *sources,
                                  int source_count, std::size_t element, int op) {
    Lanes<T, Word> lanes;
    for (int first = 0; first < source_count; first += reduce_batch) {
        Word held[reduce_batch];
#pragma unroll
        for (int s = 0; s < reduce_batch; ++s) {
            if (first + s < source_count) {
                held[s] = load_anywhere(reinterpret_cast<const Word *>(sources[first + s] + element));
            }
        }
        with_op(op, [&](auto constant) {
#pragma unroll
            for (int s = 0; s < reduce_batch; ++s) {
                if (first + s == 0) {
                    lanes.start(held[s]);
                } else if (first + s < source_count) {
                    lanes.join(constant, held[s]);
                }
            }
        });
    }
    const Word word = lanes.result(op, source_count);
    for (int j = 0; j < destination_count; ++j) {
        store_anywhere(reinterpret_cast<Word *>(destinations[j] + element), word);
    }
}

/// The elements before and after the aligned words, or all of them where pointers do not agree modulo 16 or are not
/// even aligned to T: one element a time, its loads from up to eight sources in flight.
template <class T>
__device__ __noinline__ void reduce_edges(T *const *destinations, int destination_count, const T *const *sources,
                                          int source_count, std::size_t count, AlignedPart aligned, int op) {
    using Word = typename WordOf<sizeof(T)>::Type;
    for (std::size_t i = threadIdx.x; i < count - aligned.body; i += blockDim.x) {
        const std::size_t at = i < aligned.head ? i : i + aligned.body;
        reduce_one<T, Word>(destinations, destination_count, sources, source_count, at, op);
    }
}

/// Reduces element i of the sources, one of each rank and in the order of their indices, into element i of every
/// destination. source_count >= 1. A destination may be equal to a source, but not overlap one otherwise.
/// `may_be_long`: whether there is code for long parts, too.
template <class T, bool may_be_long = false>
__device__ inline void reduce_block(T *const *destinations, int destination_count, const T *const *sources,
                                    int source_count, std::size_t count, int op) {
    if (destination_count <= 0 || count == 0) return;
    AlignedPart aligned{count, 0, 0};
    const std::uintptr_t difference = address_difference(destinations, destination_count, sources[0]) |
                                      address_difference(sources, source_count, sources[0]);
    if (difference % 16 == 0 && address_of(sources[0]) % sizeof(T) == 0)
        aligned = aligned_part(sources[0], count, sizeof(T));
    if (source_count == 2) {
        reduce_words_of<T, 2, 4>(destinations, destination_count, sources, aligned.head, aligned.words, op);
    } else if (may_be_long && source_count == 4 && aligned.words >= long_words) {
        reduce_words_of<T, 4, 4>(destinations, destination_count, sources, aligned.head, aligned.words, op);
    } else if (source_count == 4) {
        reduce_words_of<T, 4, 2>(destinations, destination_count, sources, aligned.head, aligned.words, op);
    } else if (source_count == 8) {
        reduce_words_of<T, 8, 1>(destinations, destination_count, sources, aligned.head, aligned.words, op);
    } else {
        for (std::size_t i = threadIdx.x; i < aligned.words; i += blockDim.x) {
            reduce_one<T, uint4>(destinations, destination_count, sources, source_count,
                                 aligned.head + i * (16 / sizeof(T)), op);
        }
    }
    if (aligned.body != count) {
        reduce_edges(destinations, destination_count, sources, source_count, count, aligned, op);
    }
}

}  // namespace on_device
}  // namespace baton::core
