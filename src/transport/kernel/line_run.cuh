#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/data_line.hpp"
#include "transport/kernel/warp.cuh"
#include "transport/kernel/word.cuh"

/// What a warp does with lines that carry their own flag (sync/data_line.hpp). One instruction moves four lines, and a
/// thread 16 bytes. A line is whole only if its eight threads store it, or load it, in one instruction, so no thread
/// may have diverged from its warp there:
///   - What differs between the threads of a warp is a predicate of one instruction (the functions with `when`), and
///     every branch is decided by a vote. The assembler may turn a predicate into a small branch again, but it closes
///     that before the next instruction.
///   - `__syncwarp()` would not do: threads that have diverged meet there, and diverge again.
///   - trap_unless_converged() checks it.
///
/// All threads of a one-dimensional block of whole warps call with the same arguments.
namespace baton::core {
inline namespace on_device {

inline constexpr unsigned line_threads = 8;

__device__ inline unsigned place_in_line() { return threadIdx.x % line_threads; }
__device__ inline bool ends_line() { return place_in_line() == line_threads - 1; }

/// A diverged warp would tear lines without a trace.
__device__ inline void trap_unless_converged() {
    if (__activemask() != full_mask) __trap();
}

/// Stores this thread's part of a line. The eight threads of a line agree on `when`: if the assembler makes a branch of
/// it, that separates only whole lines.
__device__ inline void store_line_words(DataLine *line, const LineWords &words, bool when) {
    store_line_part(line->data + place_in_line() * sizeof(LineWords), words, when);
}

/// Loads this thread's part of a line: zeros if not `when`, so that no epoch is seen.
__device__ inline LineWords load_line_words(const DataLine *line, bool when) {
    return load_line_part(line->data + place_in_line() * sizeof(LineWords), when);
}

/// Loads the first `bytes` of a thread's 16, piece by piece. Not inlined: rare, and long.
template <class Piece>
__device__ __noinline__ LineWords load_pieces(const std::byte *at, int bytes) {
    LineWords words{0, 0};
#pragma unroll
    for (int i = 0; i < 16; i += sizeof(Piece)) {
        const std::uint64_t piece = load_when(reinterpret_cast<const Piece *>(at + i), i < bytes);
        (i < 8 ? words.low : words.high) |= piece << (i % 8 * 8);
    }
    return words;
}
template <class Piece>
__device__ __noinline__ void store_pieces(std::byte *at, LineWords words, int bytes) {
#pragma unroll
    for (int i = 0; i < 16; i += sizeof(Piece))
        store_when(reinterpret_cast<Piece *>(at + i), (i < 8 ? words.low : words.high) >> (i % 8 * 8), i < bytes);
}

/// Whether this memory does not consist of whole aligned words, as lines do. If that is so for one part of an
/// operation, all its parts are moved as unaligned ones.
__device__ inline bool is_unaligned(const void *at, std::uint64_t bytes) { return (address_of(at) | bytes) % 8 != 0; }

/// True on all threads if unaligned(index) is true for any index of [0, count).
template <class Unaligned>
__device__ inline bool any_unaligned(int count, const Unaligned &unaligned) {
    bool found = false;
    for (int first = 0; first < count; first += warp_threads) {
        const int index = first + static_cast<int>(threadIdx.x % warp_threads);
        found |= unaligned(index < count ? index : 0);
    }
    return __any_sync(full_mask, found);
}

/// A run of lines of a part, which a warp moves together. A thread has 16 bytes in each of `lines` lines, which lie
/// four apart. A part is at most what a channel's lines hold, so 32 bits will do.
template <int lines>
struct LineRun {
    static constexpr unsigned lines_apart = warp_threads / line_threads;
    static constexpr unsigned all_lines = lines * lines_apart;
    static constexpr int bytes_apart = lines_apart * DataLine::payload;

    __device__ LineRun(unsigned run, std::uint64_t bytes)
        : line(run * all_lines + threadIdx.x % warp_threads / line_threads),
          at(line * static_cast<unsigned>(DataLine::payload) + place_in_line() * sizeof(LineWords)),
          bytes_left(static_cast<int>(bytes) - static_cast<int>(at)),
          whole((run + 1) * all_lines * DataLine::payload <= bytes) {}

    /// Whether the part has this thread's k-th line. The same for the eight threads of a line.
    __device__ bool exists(int k) const {
        return bytes_left + static_cast<int>(place_in_line() * sizeof(LineWords)) - k * bytes_apart > 0;
    }

    unsigned line;   // this thread's first line
    unsigned at;     // where the thread's bytes of that line are in the part
    int bytes_left;  // from there to the part's end
    bool whole;      // all lines are full: the same for the warp
};

/// Unaligned parts are moved in pieces: halves of words if these fit all threads of the warp, else bytes.
__device__ inline bool in_halves(const std::byte *at, int bytes) {
    return __all_sync(full_mask,
                      bytes <= 0 || (static_cast<unsigned>(address_of(at)) | static_cast<unsigned>(bytes)) % 4 == 0);
}
__device__ inline int bytes_of_thread(int bytes_left) {
    const int most = ends_line() ? 8 : 16;
    return bytes_left < most ? bytes_left : most;
}

/// Loads a thread's part of a line from `at`, `bytes_left` bytes at most; the rest is zero.
__device__ __noinline__ inline LineWords load_unaligned(const std::byte *at, int bytes_left) {
    const int bytes = bytes_of_thread(bytes_left);
    return in_halves(at, bytes) ? load_pieces<std::uint32_t>(at, bytes) : load_pieces<std::uint8_t>(at, bytes);
}
/// Not inlined, even for aligned words: the compiler would see that a thread that stores nothing of one line stores
/// nothing of the next either, and diverge the warp by that.
__device__ __noinline__ inline void store_rest(std::byte *at, LineWords words, int bytes_left, bool unaligned) {
    const int bytes = bytes_of_thread(bytes_left);
    if (unaligned)
        return in_halves(at, bytes) ? store_pieces<std::uint32_t>(at, words, bytes)
                                    : store_pieces<std::uint8_t>(at, words, bytes);
    auto *place = reinterpret_cast<std::uint64_t *>(at);
    store_when(place, words.low, bytes > 0);
    store_when(place + 1, words.high, bytes > 8);
}

/// load_run() and store_run() move a run's words from the part's memory, and to it. All threads agree on `unaligned`.
template <int lines>
__device__ inline void load_run(LineWords (&words)[lines], const std::byte *part, const LineRun<lines> &run,
                                bool unaligned) {
    const std::byte *const at = part + run.at;
    if (run.whole && !unaligned) {
        const std::byte *const high = ends_line() ? at : at + 8;  // the last thread of a line does not use it
#pragma unroll
        for (int k = 0; k < lines; ++k) {
            words[k] = {load_word(reinterpret_cast<const std::uint64_t *>(at + k * run.bytes_apart)),
                        load_word(reinterpret_cast<const std::uint64_t *>(high + k * run.bytes_apart))};
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < lines; ++k) {
        const std::byte *const from = at + k * run.bytes_apart;
        const int bytes = run.bytes_left - k * run.bytes_apart;
        if (unaligned) {
            words[k] = load_unaligned(from, bytes);
        } else {
            // Not in a function: that would return when its loads have come, and these are to be under way together.
            // Words that are not there are loaded from the part's beginning, since predicates would diverge the warp
            // (store_rest()).
            const std::byte *const low = bytes > 0 ? from : part;
            const std::byte *const high = bytes > 8 && !ends_line() ? from + 8 : part;
            words[k] = {load_word_or_other(reinterpret_cast<const std::uint64_t *>(low), bytes > 0),
                        load_word_or_other(reinterpret_cast<const std::uint64_t *>(high), bytes > 8 && !ends_line())};
        }
    }
}
template <int lines>
__device__ inline void store_run(std::byte *part, const LineRun<lines> &run, const LineWords (&words)[lines],
                                 bool unaligned) {
    std::byte *const at = part + run.at;
    if (run.whole && !unaligned) {
#pragma unroll
        for (int k = 0; k < lines; ++k) {
            auto *const place = reinterpret_cast<std::uint64_t *>(at + k * run.bytes_apart);
            store_word(place, words[k].low);
            store_when(place + 1, words[k].high, !ends_line());
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < lines; ++k)
        store_rest(at + k * run.bytes_apart, words[k], run.bytes_left - k * run.bytes_apart, unaligned);
}

/// Puts the epoch that a run's lines are to carry into their words.
template <int lines>
__device__ inline void stamp(LineWords (&words)[lines], std::uint64_t epoch) {
#pragma unroll
    for (int k = 0; k < lines; ++k) words[k].high = ends_line() ? epoch : words[k].high;
}
/// Stores a run's lines into a peer's memory, where the lines of its part begin at `to`.
template <int lines>
__device__ inline void store_lines(DataLine *to, const LineRun<lines> &run, const LineWords (&words)[lines]) {
    trap_unless_converged();
#pragma unroll
    for (int k = 0; k < lines; ++k) store_line_words(to + run.line + k * run.lines_apart, words[k], run.exists(k));
}

/// Waits until a run's lines carry `epoch` in all `sources`, and holds them then. from[s] is where a source's lines
/// begin; a null one has none. False if `spin` ended the wait. All lines are loaded before any is looked at.
template <int sources, int lines, class Spin>
__device__ inline bool poll_lines(const DataLine *const (&from)[sources], const LineRun<lines> &run,
                                  LineWords (&held)[sources][lines], std::uint64_t epoch, Spin &spin) {
    for (;;) {
        trap_unless_converged();
        bool there = true;
#pragma unroll
        for (int s = 0; s < sources; ++s) {
#pragma unroll
            for (int k = 0; k < lines; ++k)
                held[s][k] =
                    load_line_words(from[s] + run.line + k * run.lines_apart, from[s] != nullptr && run.exists(k));
        }
#pragma unroll
        for (int s = 0; s < sources; ++s) {
#pragma unroll
            for (int k = 0; k < lines; ++k)
                there &= held[s][k].high == epoch || !ends_line() || from[s] == nullptr || !run.exists(k);
        }
        if (__all_sync(full_mask, there)) return true;
        if (__any_sync(full_mask, !spin())) return false;
    }
}

/// The runs of several parts, each of at most `most_bytes`, spread over the first `threads` threads of a block: one
/// part after the other, each would cost its own flight to memory.
template <int lines>
class LineRuns {
public:
    __device__ LineRuns(int parts, std::uint64_t most_bytes, unsigned threads)
        : next_(threadIdx.x / warp_threads), stride_(threads / warp_threads) {
        constexpr unsigned run_bytes = LineRun<lines>::all_lines * DataLine::payload;
        const unsigned runs = (static_cast<unsigned>(most_bytes) + run_bytes - 1) / run_bytes;
        all_ = runs * static_cast<unsigned>(parts);
        runs_ = runs > 0 ? runs : 1;
    }
    // The same for all threads of a warp:
    __device__ bool more() const { return next_ < all_; }
    __device__ int part() const { return static_cast<int>(next_ / runs_); }
    __device__ unsigned run() const { return next_ % runs_; }
    __device__ void advance() { next_ += stride_; }

private:
    unsigned next_;
    unsigned stride_;
    unsigned all_;
    unsigned runs_;  // of a part; at least 1, since it divides
};

}  // namespace on_device
}  // namespace baton::core
