#pragma once

#include "transport/kernel/reduce_block.cuh"

/// Parts of reductions by one block: sources join accumulators that another rank has begun, and the result is
/// accumulators or elements. Called like the functions of move.cuh.
///
/// A thread works on 16 bytes of elements and the 16 to 64 bytes of their accumulators. Accumulators are aligned. If
/// the elements are not aligned to 16 bytes, a thread works on single ones: neighbours' loads still share their lines.
namespace baton::core {
inline namespace on_device {

/// The accumulators of a Word's elements, as they lie in memory.
template <class T, class Word>
struct HeldLanes {
    using Unit =
        typename WordOf<sizeof(Accumulator<T>) * Lanes<T, Word>::count >= 16 ? 16 : sizeof(Accumulator<T>)>::Type;
    static constexpr int units = sizeof(Accumulator<T>) * Lanes<T, Word>::count / sizeof(Unit);

    __device__ static void load(Lanes<T, Word> &lanes, const Accumulator<T> *at) {
        Unit held[units];
#pragma unroll
        for (int i = 0; i < units; ++i) held[i] = load_word(reinterpret_cast<const Unit *>(at) + i);
        std::memcpy(lanes.values, held, sizeof(held));
    }
    __device__ static void store(const Lanes<T, Word> &lanes, Accumulator<T> *at) {
        Unit held[units];
        std::memcpy(held, lanes.values, sizeof(held));
#pragma unroll
        for (int i = 0; i < units; ++i) store_word(reinterpret_cast<Unit *>(at) + i, held[i]);
    }
};

/// Where the result of a part goes.
template <class T>
struct ToAccumulators {
    Accumulator<T> *destination;

    template <class Word>
    __device__ void store(const Lanes<T, Word> &lanes, std::size_t element) const {
        HeldLanes<T, Word>::store(lanes, destination + element);
    }
    __device__ std::uintptr_t misalignment() const { return 0; }
};
template <class T>
struct ToElements {
    T *const *destinations;
    int count;
    int op;
    int ranks;

    template <class Word>
    __device__ void store(const Lanes<T, Word> &lanes, std::size_t element) const {
        const Word word = lanes.result(op, ranks);
        for (int j = 0; j < count; ++j) store_anywhere(reinterpret_cast<Word *>(destinations[j] + element), word);
    }
    __device__ std::uintptr_t misalignment() const { return address_difference(destinations, count, nullptr); }
};

/// Joins words [0, words) of the elements from `first` on; a thread has `unroll` of them under way together.
template <class T, class Word, int unroll, class End>
__device__ inline void join_words(const End &end, const Accumulator<T> *partial, const T *const *sources,
                                  int source_count, std::size_t first, std::size_t words, int op) {
    constexpr std::size_t per_word = Lanes<T, Word>::count;
    const std::size_t stride = blockDim.x;
    for (std::size_t base = threadIdx.x; base < words; base += unroll * stride) {
        const auto element = [&](int k) { return first + (base + k * stride) * per_word; };
        const auto inside = [&](int k) { return base + k * stride < words; };
        Lanes<T, Word> lanes[unroll];
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            if (partial != nullptr && inside(k)) HeldLanes<T, Word>::load(lanes[k], partial + element(k));
        }
        for (int s = 0; s < source_count; ++s) {
            Word held[unroll];
#pragma unroll
            for (int k = 0; k < unroll; ++k) {
                if (inside(k)) held[k] = load_anywhere(reinterpret_cast<const Word *>(sources[s] + element(k)));
            }
            with_op(op, [&](auto constant) {
#pragma unroll
                for (int k = 0; k < unroll; ++k) {
                    if (s == 0 && partial == nullptr) {
                        lanes[k].start(held[k]);
                    } else {
                        lanes[k].join(constant, held[k]);
                    }
                }
            });
        }
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
            if (inside(k)) end.store(lanes[k], element(k));
        }
    }
}

template <class T, class End>
__device__ inline void join_sources(const End &end, const Accumulator<T> *partial, const T *const *sources,
                                    int source_count, std::size_t count, int op) {
    constexpr std::size_t per_word = 16 / sizeof(T);
    // The same number of bytes of accumulators is under way for every T.
    constexpr int unroll = 4 * sizeof(T) / sizeof(Accumulator<T>);
    const std::uintptr_t misalignment = end.misalignment() | address_difference(sources, source_count, nullptr);
    const std::size_t words = misalignment % 16 == 0 ? count / per_word : 0;
    join_words<T, uint4, unroll>(end, partial, sources, source_count, 0, words, op);
    join_words<T, typename WordOf<sizeof(T)>::Type, 2>(end, partial, sources, source_count, words * per_word,
                                                       count - words * per_word, op);
}

/// A part of a reduction that ends in accumulators. `destination` may equal `partial`.
template <class T>
__device__ inline void accumulate_block(Accumulator<T> *destination, const Accumulator<T> *partial,
                                        const T *const *sources, int source_count, std::size_t count, int op) {
    join_sources<T>(ToAccumulators<T>{destination}, partial, sources, source_count, count, op);
}

/// The last part of a reduction, into element i of every destination; AVG divides by `ranks`. A destination may equal a
/// source, but must not overlap one otherwise.
template <class T>
__device__ inline void complete_block(T *const *destinations, int destination_count, const Accumulator<T> *partial,
                                      const T *const *sources, int source_count, std::size_t count, int op, int ranks) {
    join_sources<T>(ToElements<T>{destinations, destination_count, op, ranks}, partial, sources, source_count, count,
                    op);
}

}  // namespace on_device
}  // namespace baton::core
