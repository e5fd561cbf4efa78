#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/element/lanes.hpp"
#include "transport/kernel/move.cuh"

/// Reducing by one block, called like the functions of move.cuh. host/move.hpp has some of the names here and in
/// partial_move.cuh and packet_move.cuh, too. Inline namespaces keep them apart for the linker of a program that has
/// both, and for a file that includes both.
namespace baton::core {
inline namespace on_device {

/// How many sources a thread loads before it combines them, if their number is not known to the compiler.
inline constexpr int reduce_batch = 8;

/// From this many words on, with 4 sources, more words of each are loaded at once: long parts take 1 to 2 % less time
/// then, short ones would take up to 8 % more (docs/experiments.md).
inline constexpr std::size_t long_words = 12288;

inline constexpr int any_op = -1;

/// A thread's words of one round: up to `unroll` of each source, a block's width apart.
template <int sources_known, int unroll>
struct Round {
    uint4 words[unroll][sources_known];
};

/// The 16-byte words that a block reduces, [0, words) from element `first` on, if the compiler knows the number of
/// sources.
template <class T, int sources_known, int unroll>
class ReducedWords {
public:
    __device__ ReducedWords(T *const *destinations, int destination_count, const T *const *sources, std::size_t first,
                            std::size_t words, int op)
        : destinations_(destinations), destination_count_(destination_count), first_(first), words_(words), op_(op) {
#pragma unroll
        for (int s = 0; s < sources_known; ++s) from_[s] = reinterpret_cast<const uint4 *>(sources[s] + first);
    }

    __device__ int op() const { return op_; }
    /// The width of a round, in words.
    __device__ static std::size_t width() { return unroll * blockDim.x; }
    __device__ bool has(std::size_t base) const { return base < words_; }
    __device__ bool is_whole(std::size_t base) const { return base + (unroll - 1) * blockDim.x < words_; }

    /// Loads a round from word `base` on. `whole`: none of it lies behind `words`. Loops need whole rounds: a word that
    /// may not be loaded would keep the last round's value in a register.
    template <bool whole>
    __device__ Round<sources_known, unroll> load(std::size_t base) const {
        Round<sources_known, unroll> round;
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            if (!whole && base + k * blockDim.x >= words_) continue;
#pragma unroll
            for (int s = 0; s < sources_known; ++s) round.words[k][s] = load_word(from_[s] + base + k * blockDim.x);
        }
        return round;
    }

    /// `op_known`: the operation, with SUM for AVG, too; the round must be whole then. Or any_op.
    template <int op_known>
    __device__ void reduce(const Round<sources_known, unroll> &round, std::size_t base) const {
        constexpr bool whole = op_known != any_op;
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            if (!whole && base + k * blockDim.x >= words_) continue;
            Lanes<T, uint4> lanes;
            lanes.start(round.words[k][0]);
            const auto join_all = [&](auto constant) {
#pragma unroll
                for (int s = 1; s < sources_known; ++s) lanes.join(constant, round.words[k][s]);
            };
            if constexpr (whole) {
                join_all(std::integral_constant<int, op_known>{});
            } else {
                with_op(op_, join_all);
            }
            const uint4 word = lanes.result(whole && op_known != BATON_SUM ? op_known : op_, sources_known);
            for (int j = 0; j < destination_count_; ++j) {
                store_word(reinterpret_cast<uint4 *>(destinations_[j] + first_) + base + k * blockDim.x, word);
            }
        }
    }

private:
    T *const *const destinations_;
    const int destination_count_;
    const uint4 *from_[sources_known];
    const std::size_t first_;
    const std::size_t words_;
    const int op_;
};

/// Has unroll * sources loads in flight, all those of a round before its first store, so a destination may be one of
/// the sources. There is a loop for each operation: few warps have little to do beside their own arithmetic.
template <class T, int sources_known, int unroll>
__device__ inline void reduce_words(const ReducedWords<T, sources_known, unroll> &all) {
    std::size_t base = threadIdx.x;
    with_op(all.op(), [&](auto constant) {
        for (; all.is_whole(base); base += all.width()) {
            all.template reduce<constant>(all.template load<true>(base), base);
        }
    });
    if (all.has(base)) all.template reduce<any_op>(all.template load<false>(base), base);
}

/// The same, but the next round's loads are under way while a round is reduced and stored. That combines what two ranks
/// push up to a tenth sooner. More sources lack the registers, or gain nothing (docs/experiments.md).
template <class T, int sources_known, int unroll>
__device__ inline void reduce_words_ahead(const ReducedWords<T, sources_known, unroll> &all) {
    std::size_t base = threadIdx.x;
    if (all.is_whole(base)) {
        with_op(all.op(), [&](auto constant) {
            auto round = all.template load<true>(base);
            for (;;) {
                const std::size_t next = base + all.width();
                if (!all.is_whole(next)) break;
                const auto ahead = all.template load<true>(next);
                all.template reduce<constant>(round, base);
                round = ahead;
                base = next;
            }
            all.template reduce<constant>(round, base);
            base += all.width();
        });
    }
    if (all.has(base)) all.template reduce<any_op>(all.template load<false>(base), base);
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

/// Reduces one word, `element` elements behind each pointer, of any number of sources.
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

/// Reduces the elements before and after the aligned words, or all of them if pointers do not agree modulo 16 or are
/// not even aligned to T. Goes by single elements, with loads from up to eight sources in flight.
template <class T>
__device__ __noinline__ void reduce_edges(T *const *destinations, int destination_count, const T *const *sources,
                                          int source_count, std::size_t count, AlignedPart aligned, int op) {
    using Word = typename WordOf<sizeof(T)>::Type;
    for (std::size_t i = threadIdx.x; i < count - aligned.body; i += blockDim.x) {
        const std::size_t at = i < aligned.head ? i : i + aligned.body;
        reduce_one<T, Word>(destinations, destination_count, sources, source_count, at, op);
    }
}

/// Reduces element i of the sources, one of each rank, in the order of their indices, into element i of every
/// destination. A destination may equal a source, but must not overlap one otherwise. REQUIRES: source_count >= 1.
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
    const auto words_of = [&]<int sources_known, int unroll>() {
        return ReducedWords<T, sources_known, unroll>(destinations, destination_count, sources, aligned.head,
                                                      aligned.words, op);
    };
    if (source_count == 2) {
        reduce_words_ahead(words_of.template operator()<2, 4>());
    } else if (source_count == 3) {
        reduce_words(words_of.template operator()<3, 2>());
    } else if (may_be_long && source_count == 4 && aligned.words >= long_words) {
        reduce_words(words_of.template operator()<4, 4>());
    } else if (source_count == 4) {
        reduce_words(words_of.template operator()<4, 2>());
    } else if (source_count == 8) {
        reduce_words(words_of.template operator()<8, 1>());
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
