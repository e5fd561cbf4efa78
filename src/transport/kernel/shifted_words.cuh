#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/kernel/warp.cuh"
#include "transport/kernel/word.cuh"

/// Aligned words of a destination, made from a source that lies differently modulo 16. Loads from the source are of
/// aligned words, too, as wide as if the two agreed. A word of the destination is the end of one of them and the
/// beginning of the next, which the next thread of the warp has loaded.
///
/// A warp has `unroll` times 32 words in a round. A thread's words are 32 apart, so that the word behind the warp's
/// k-th 32 is the first of the warp's next 32. All threads of a block call with the same arguments, and the block has
/// whole warps.
namespace baton::core {
inline namespace on_device {

/// Returns bytes `shift` to shift + 15 of two words, for a shift below 16.
__device__ inline uint4 shifted_word(const uint4 &low, const uint4 &high, unsigned shift) {
    std::uint32_t parts[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 6; ++i) parts[i] = shift & 8 ? parts[i + 2] : parts[i];
#pragma unroll
    for (int i = 0; i < 5; ++i) parts[i] = shift & 4 ? parts[i + 1] : parts[i];
    const unsigned bits = shift % 4 * 8;
    return {__funnelshift_r(parts[0], parts[1], bits), __funnelshift_r(parts[1], parts[2], bits),
            __funnelshift_r(parts[2], parts[3], bits), __funnelshift_r(parts[3], parts[4], bits)};
}

/// The places of a thread's words in [begin, words).
template <int unroll>
class WarpRounds {
public:
    __device__ explicit WarpRounds(std::size_t words, std::size_t begin = 0)
        : words_(words),
          base_(begin + threadIdx.x / warp_threads * (warp_threads * unroll) + threadIdx.x % warp_threads) {}

    /// is_whole() and has_any() are the same for all threads of a warp.
    __device__ bool is_whole() const { return warp_begin() + warp_threads * unroll <= words_; }
    __device__ bool has_any() const { return warp_begin() < words_; }
    __device__ void advance() { base_ += unroll * blockDim.x; }

    __device__ std::size_t place(int k) const { return base_ + k * warp_threads; }
    __device__ bool has(int k) const { return place(k) < words_; }
    __device__ bool has_or_follows(int k) const { return place(k) <= words_; }

private:
    __device__ std::size_t warp_begin() const { return base_ - threadIdx.x % warp_threads; }

    std::size_t words_;
    std::size_t base_;
};

/// Word w of the destination is bytes 16 w to 16 w + 15 of the source.
template <int unroll>
class ShiftedWords {
public:
    /// `whole`: the round has all its words. Otherwise those that it lacks are zero. If the source agrees with the
    /// destination, no word of another warp is loaded: the two may be the same memory.
    template <bool whole>
    __device__ void load(const void *source, const WarpRounds<unroll> &rounds) {
        shift_ = static_cast<unsigned>(address_of(source) % 16);
        const auto *const from = reinterpret_cast<const uint4 *>(static_cast<const char *>(source) - shift_);
#pragma unroll
        for (int k = 0; k <= unroll; ++k) {
            if (!whole) held_[k] = uint4{};
            const bool mine = k < unroll || (is_first() && shift_ != 0);
            const bool there = whole || (shift_ != 0 ? rounds.has_or_follows(k) : rounds.has(k));
            if (mine && there) held_[k] = load_word(from + rounds.place(k));
        }
    }
    /// All threads of the warp call it together.
    __device__ uint4 word(int k) const {
        // Chosen by value, each part by itself: a choice between two places would keep the words in local memory.
        const uint4 mine = held_[k];
        const uint4 behind = held_[k + 1];
        const bool gives_behind = is_first();
        const uint4 given{gives_behind ? behind.x : mine.x, gives_behind ? behind.y : mine.y,
                          gives_behind ? behind.z : mine.z, gives_behind ? behind.w : mine.w};
        return shifted_word(mine, word_of_next_thread(given), shift_);
    }

private:
    __device__ static bool is_first() { return threadIdx.x % warp_threads == 0; }

    uint4 held_[unroll + 1];  // the last one in the warp's first thread only
    unsigned shift_;
};

}  // namespace on_device
}  // namespace baton::core
