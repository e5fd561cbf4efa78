#pragma once

#include <cstddef>

#include "transport/kernel/reduce_block.cuh"

/// Reducing by one block if the pointers do not agree modulo 16, because a buffer's blocks are no multiple of 16 bytes,
/// or because buffers lie differently. Called like the functions of move.cuh.
///
/// Kept apart from reduce_block(), in kernels of its own: loops for both cost a kernel so many registers that words
/// which agree take up to 1.4 times as long (docs/experiments.md).
namespace baton::core {
inline namespace on_device {

/// What a block reduces; `part` of it goes by words of 16 bytes.
template <class T>
struct Unaligned {
    T *const *destinations;
    int destination_count;
    const T *const *sources;
    int source_count;
    AlignedPart part;
    int op;

    __device__ void store(const uint4 &word, std::size_t place) const {
        for (int j = 0; j < destination_count; ++j)
            store_word(reinterpret_cast<uint4 *>(destinations[j] + part.head) + place, word);
    }
};

/// Reduces a whole round, of a number of sources that the compiler knows. All its loads are under way before the first
/// store, so a destination may be one of the sources.
template <int sources_known, class T, int unroll>
__device__ inline void reduce_round(const Unaligned<T> &all, const WarpRounds<unroll> &rounds) {
    ShiftedWords<unroll> held[sources_known];
#pragma unroll
    for (int s = 0; s < sources_known; ++s) held[s].template load<true>(all.sources[s] + all.part.head, rounds);
    with_op(all.op, [&](auto constant) {
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            Lanes<T, uint4> lanes;
            lanes.start(held[0].word(k));
#pragma unroll
            for (int s = 1; s < sources_known; ++s) lanes.join(constant, held[s].word(k));
            // SUM stands for AVG too.
            const uint4 word = lanes.result(constant == BATON_SUM ? all.op : static_cast<int>(constant), sources_known);
            all.store(word, rounds.place(k));
        }
    });
}

/// Reduces all whole rounds; returns how many words they have.
template <int sources_known, int unroll, class T>
__device__ inline std::size_t reduce_rounds(const Unaligned<T> &all) {
    WarpRounds<unroll> rounds(all.part.words);
    for (; rounds.is_whole(); rounds.advance()) reduce_round<sources_known>(all, rounds);
    return all.part.words / (warp_threads * unroll) * (warp_threads * unroll);
}

/// Reduces the words from `begin` on, of any number of sources: one word for each thread, from reduce_batch sources at
/// once. The last warps take the first words, so if there are few, the first warps meanwhile do their part of
/// reduce_edges().
template <class T>
__device__ inline void reduce_rest(const Unaligned<T> &all, std::size_t begin) {
    const std::size_t warp = threadIdx.x / warp_threads;
    const std::size_t warps = blockDim.x / warp_threads;
    // Relative to the warp's usual place; modulo 2^64.
    WarpRounds<1> rounds(all.part.words, begin + (warps - 1 - 2 * warp) * warp_threads);
    for (; rounds.has_any(); rounds.advance()) {
        Lanes<T, uint4> lanes;
        for (int first = 0; first < all.source_count; first += reduce_batch) {
            ShiftedWords<1> held[reduce_batch];
#pragma unroll
            for (int s = 0; s < reduce_batch; ++s) {
                if (first + s < all.source_count)
                    held[s].template load<false>(all.sources[first + s] + all.part.head, rounds);
            }
            with_op(all.op, [&](auto constant) {
#pragma unroll
                for (int s = 0; s < reduce_batch; ++s) {
                    if (first + s == 0) {
                        lanes.start(held[s].word(0));
                    } else if (first + s < all.source_count) {
                        lanes.join(constant, held[s].word(0));
                    }
                }
            });
        }
        const uint4 word = lanes.result(all.op, all.source_count);
        if (rounds.has(0)) all.store(word, rounds.place(0));
    }
}

/// Like reduce_block(). The destinations should agree modulo 16: if they do not, every element goes by itself.
template <class T>
__device__ inline void reduce_unaligned(T *const *destinations, int destination_count, const T *const *sources,
                                        int source_count, std::size_t count, int op) {
    if (destination_count <= 0 || count == 0) return;
    Unaligned<T> all{destinations, destination_count, sources, source_count, {count, 0, 0}, op};
    if (address_difference(destinations, destination_count, destinations[0]) % 16 == 0 &&
        address_of(destinations[0]) % sizeof(T) == 0)
        all.part = inner_part(destinations[0], count, sizeof(T), sources[0]);
    std::size_t done = 0;
    if (source_count == 2) {
        done = reduce_rounds<2, 4>(all);
    } else if (source_count == 3) {
        done = reduce_rounds<3, 2>(all);
    } else if (source_count == 4) {
        done = reduce_rounds<4, 2>(all);
    }
    reduce_rest(all, done);
    reduce_edges(destinations, destination_count, sources, source_count, count, all.part, op);
}

}  // namespace on_device
}  // namespace baton::core
