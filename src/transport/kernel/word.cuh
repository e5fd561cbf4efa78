#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/kernel/ptx.cuh"

/// Loads and stores of up to 16 bytes at any address, by the instructions of ptx.cuh.
namespace baton::core {
inline namespace on_device {

template <int bytes>
struct WordOf;
template <>
struct WordOf<16> {
    using Type = uint4;
};
template <>
struct WordOf<8> {
    using Type = std::uint64_t;
};
template <>
struct WordOf<4> {
    using Type = std::uint32_t;
};
template <>
struct WordOf<2> {
    using Type = std::uint16_t;
};
template <>
struct WordOf<1> {
    using Type = std::uint8_t;
};

__device__ inline std::uintptr_t address_of(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// load_bytes() and store_bytes() for anything but a whole aligned word. Not inlined: they are rare, and stand in the
/// middle of loops that are short without them.
__device__ __noinline__ inline std::uint64_t load_unaligned_bytes(const void *at, std::size_t bytes) {
    std::uint64_t word = 0;
    if (bytes == 8 && address_of(at) % 4 == 0) {
        const auto *half = static_cast<const std::uint32_t *>(at);
        const std::uint64_t low = load_word(half);
        return low | static_cast<std::uint64_t>(load_word(half + 1)) << 32;
    }
    const auto *byte = static_cast<const std::uint8_t *>(at);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        if (i < bytes) word |= static_cast<std::uint64_t>(load_word(byte + i)) << (8 * i);
    }
    return word;
}

__device__ __noinline__ inline void store_unaligned_bytes(void *at, std::uint64_t word, std::size_t bytes) {
    if (bytes == 8 && address_of(at) % 4 == 0) {
        store_word(static_cast<std::uint32_t *>(at), static_cast<std::uint32_t>(word));
        store_word(static_cast<std::uint32_t *>(at) + 1, static_cast<std::uint32_t>(word >> 32));
    } else {
        auto *byte = static_cast<std::uint8_t *>(at);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (i < bytes) store_word(byte + i, static_cast<std::uint8_t>(word >> (8 * i)));
        }
    }
}

/// Loads `bytes` (at most 8) from any address, little end first; the rest is zero.
__device__ inline std::uint64_t load_bytes(const void *at, std::size_t bytes) {
    if (bytes == 8 && address_of(at) % 8 == 0) return load_word(static_cast<const std::uint64_t *>(at));
    return load_unaligned_bytes(at, bytes);
}

/// Stores the first `bytes` (at most 8) of `word` to any address.
__device__ inline void store_bytes(void *at, std::uint64_t word, std::size_t bytes) {
    if (bytes == 8 && address_of(at) % 8 == 0) {
        store_word(static_cast<std::uint64_t *>(at), word);
    } else {
        store_unaligned_bytes(at, word, bytes);
    }
}

}  // namespace on_device
}  // namespace baton::core
