#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "reference_device.hpp"
#include "transport/element/dispatch.hpp"

namespace baton::bench {

namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::size_t count) {
    constexpr std::size_t most = 4096;
    return static_cast<unsigned>(std::clamp<std::size_t>((count + threads - 1) / threads, 1, most));
}

__device__ std::size_t first_index() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }
__device__ std::size_t stride() { return std::size_t{gridDim.x} * blockDim.x; }

__device__ void count_wrong(Check *result, std::uint64_t index) {
    using Word = unsigned long long;
    atomicAdd(reinterpret_cast<Word *>(&result->wrong), Word{1});
    atomicMin(reinterpret_cast<Word *>(&result->first), static_cast<Word>(index));
}

cudaStream_t as_stream(void *stream) { return static_cast<cudaStream_t>(stream); }

/// Without it a kernel that did not start would leave a check's result at "nothing wrong".
void check_launch() {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        throw std::runtime_error(std::string("launching a verification kernel: ") + cudaGetErrorString(error));
    }
}

template <class T>
struct BitsOfSize;
template <class T>
requires(sizeof(T) == 1) struct BitsOfSize<T> {
    using Type = std::uint8_t;
};
template <class T>
requires(sizeof(T) == 2) struct BitsOfSize<T> {
    using Type = std::uint16_t;
};
template <class T>
requires(sizeof(T) == 4) struct BitsOfSize<T> {
    using Type = std::uint32_t;
};
template <class T>
requires(sizeof(T) == 8) struct BitsOfSize<T> {
    using Type = std::uint64_t;
};
template <class T>
using Bits = typename BitsOfSize<T>::Type;

template <class T>
__device__ T input_of(const Reduction &reduction, int rank, std::uint64_t index) {
    Pattern pattern = reduction.pattern;
    pattern.seed = reduction.seeds[rank];
    return std::bit_cast<T>(pattern_element<Bits<T>>(pattern, index));
}

template <class T>
__device__ Bits<T> reduced_bits(const Reduction &reduction, std::uint64_t index) {
    using Element = core::Element<T>;
    const auto input = [&](int rank) { return input_of<T>(reduction, rank, index); };
    T result{};
    const int calls = reduction.replaced == Reduction::nobody ? 1 : max(1, reduction.repeats);
    for (int call = 0; call < calls; ++call) {
        const auto operand = [&](int rank) {
            return Element::load(call > 0 && reduction.replaces(rank) ? result : input(rank));
        };
        core::Accumulator<T> sum = operand(0);
        for (int rank = 1; rank < reduction.ranks; ++rank) {
            sum = core::combine<T>(reduction.op, sum, operand(rank));
        }
        result = Element::store(core::finish<T>(reduction.op, sum, reduction.ranks));
    }
    return std::bit_cast<Bits<T>>(result);
}

template <class T>
__device__ bool is_right(const Reduction &reduction, std::uint64_t index, Bits<T> bits) {
    if constexpr (rounding < T >> 0) {
        if (reduction.any_order && reduction.is_sum()) {
            SumBound bound;
            for (int rank = 0; rank < reduction.ranks; ++rank) {
                bound.add(static_cast<double>(core::Element<T>::load(input_of<T>(reduction, rank, index))));
            }
            return bound.admits(std::bit_cast<T>(bits), reduction.ranks,
                                reduction.op == BATON_AVG ? reduction.ranks : 1);
        }
    }
    return bits == reduced_bits<T>(reduction, index);
}

__global__ void fill_kernel(Pattern pattern, std::uint8_t *destination, std::size_t bytes) {
    for (std::size_t i = first_index(); i < bytes; i += stride()) {
        destination[i] = pattern_element<std::uint8_t>(pattern, i);
    }
}

__global__ void fill_words_kernel(Pattern pattern, std::uint32_t *destination, std::size_t words) {
    for (std::size_t i = first_index(); i < words; i += stride()) {
        destination[i] = pattern_word(pattern, i);
    }
}

template <class B>
__global__ void check_copy_kernel(Pattern pattern, std::uint64_t first, const B *data, std::size_t count,
                                  Check *result) {
    for (std::size_t i = first_index(); i < count; i += stride()) {
        if (data[i] != pattern_element<B>(pattern, first + i)) {
            count_wrong(result, i);
        }
    }
}

template <class T>
__global__ void check_reduction_kernel(Reduction reduction, std::uint64_t first, const Bits<T> *data, std::size_t count,
                                       Check *result) {
    for (std::size_t i = first_index(); i < count; i += stride()) {
        if (!is_right<T>(reduction, first + i, data[i])) {
            count_wrong(result, i);
        }
    }
}

template <class T>
__global__ void write_reduction_kernel(Reduction reduction, std::uint64_t first, Bits<T> *destination,
                                       std::size_t count) {
    for (std::size_t i = first_index(); i < count; i += stride()) {
        destination[i] = reduced_bits<T>(reduction, first + i);
    }
}

}  // namespace

void fill_device(const Pattern &pattern, void *destination, std::size_t bytes, void *stream) {
    // Whole words if the address allows it: always, but for blocks of in-place calls with odd counts of short types.
    auto *begin = static_cast<std::uint8_t *>(destination);
    if (reinterpret_cast<std::uintptr_t>(begin) % 4 == 0 && bytes % 4 == 0) {
        fill_words_kernel<<<blocks_for(bytes / 4), threads, 0, as_stream(stream)>>>(
            pattern, reinterpret_cast<std::uint32_t *>(begin), bytes / 4);
    } else {
        fill_kernel<<<blocks_for(bytes), threads, 0, as_stream(stream)>>>(pattern, begin, bytes);
    }
    check_launch();
}

void check_copy_device(const Pattern &pattern, baton_type type, std::uint64_t first, const void *data,
                       std::size_t count, Check *result, void *stream) {
    core::dispatch_type(type, [&]<class T>() {
        check_copy_kernel<<<blocks_for(count), threads, 0, as_stream(stream)>>>(
            pattern, first, static_cast<const Bits<T> *>(data), count, result);
    });
    check_launch();
}

void check_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, const void *data,
                            std::size_t count, Check *result, void *stream) {
    core::dispatch_type(type, [&]<class T>() {
        check_reduction_kernel<T><<<blocks_for(count), threads, 0, as_stream(stream)>>>(
            reduction, first, static_cast<const Bits<T> *>(data), count, result);
    });
    check_launch();
}

void write_reduction_device(const Reduction &reduction, baton_type type, std::uint64_t first, void *destination,
                            std::size_t count, void *stream) {
    core::dispatch_type(type, [&]<class T>() {
        write_reduction_kernel<T><<<blocks_for(count), threads, 0, as_stream(stream)>>>(
            reduction, first, static_cast<Bits<T> *>(destination), count);
    });
    check_launch();
}

}  // namespace baton::bench
