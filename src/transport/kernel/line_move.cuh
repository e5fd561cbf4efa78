#pragma once

#include <cstddef>
#include <cstdint>

#include "sync/data_line.hpp"
#include "transport/element/lanes.hpp"
#include "transport/kernel/line_run.cuh"

/// Data in lines that carry their own flag (sync/data_line.hpp), sent and taken by one block, warp by warp
/// (line_run.cuh).
///
/// All threads of a one-dimensional block of whole warps call with the same arguments. A call that waits answers for
/// the calling warp only; agree() (block.cuh) makes that the block's answer. Only the first `takers` threads, whole
/// warps, take lines, so that the others may do something else meanwhile.
namespace baton::core {
inline namespace on_device {

/// How many lines a thread has under way at once: enough to hide a flight.
inline constexpr int lines_at_once = 4;

/// Loads the first lines of a part that a thread sends, to be held while it waits for something else.
__device__ inline void load_ahead(LineWords (&words)[lines_at_once], const std::byte *from, std::uint64_t bytes) {
    const LineRuns<lines_at_once> runs(1, bytes, blockDim.x);
    if (runs.more()) load_run(words, from, LineRun<lines_at_once>(runs.run(), bytes), is_unaligned(from, bytes));
}
/// Sends a part to the lines at `to`. REQUIRES: load_ahead() has loaded its first lines.
__device__ inline void put_lines(DataLine *to, LineWords (&words)[lines_at_once], const std::byte *from,
                                 std::uint64_t bytes, std::uint64_t epoch) {
    const bool unaligned = is_unaligned(from, bytes);
    for (LineRuns<lines_at_once> runs(1, bytes, blockDim.x); runs.more();) {
        const LineRun<lines_at_once> run(runs.run(), bytes);
        stamp(words, epoch);
        store_lines(to, run, words);
        runs.advance();
        if (runs.more()) load_run(words, from, LineRun<lines_at_once>(runs.run(), bytes), unaligned);
    }
}

/// Waits for the lines of a part, writes them to `to`, and passes each on as it comes, with its epoch, to
/// destination(0) ... destination(destinations - 1).
template <class DestinationOf, class Spin>
__device__ inline bool relay_lines(const DataLine *from, std::byte *to, std::uint64_t bytes, int destinations,
                                   const DestinationOf &destination, std::uint64_t epoch, unsigned takers, Spin &spin) {
    if (threadIdx.x >= takers) return true;
    const bool unaligned = is_unaligned(to, bytes);
    for (LineRuns<lines_at_once> runs(1, bytes, takers); runs.more(); runs.advance()) {
        const LineRun<lines_at_once> run(runs.run(), bytes);
        const DataLine *const sources[1] = {from};
        LineWords held[1][lines_at_once];
        if (!poll_lines(sources, run, held, epoch, spin)) return false;
        for (int j = 0; j < destinations; ++j) store_lines(destination(j), run, held[0]);
        store_run(to, run, held[0], unaligned);
    }
    return true;
}

/// Waits for the lines of several parts (transport.hpp, LinePart) and writes them to their places. lines_of(peer) is
/// where a peer puts its lines.
template <class PartOf, class LinesOf, class Spin>
__device__ inline bool take_lines(int parts, std::uint64_t most_bytes, const PartOf &part_of, const LinesOf &lines_of,
                                  std::uint64_t epoch, unsigned takers, Spin &spin) {
    if (threadIdx.x >= takers) return true;
    const bool unaligned =
        any_unaligned(parts, [&](int index) { return is_unaligned(part_of(index).to, part_of(index).bytes); });
    for (LineRuns<lines_at_once> runs(parts, most_bytes, takers); runs.more(); runs.advance()) {
        const auto part = part_of(runs.part());
        const LineRun<lines_at_once> run(runs.run(), part.bytes);
        const DataLine *const sources[1] = {lines_of(part.peer) + lines_for(part.behind)};
        LineWords held[1][lines_at_once];
        if (!poll_lines(sources, run, held, epoch, spin)) return false;
        store_run(part.to, run, held[0], unaligned);
    }
    return true;
}

/// The arguments of a reduction by lines. The result's lines go on, with their epoch, to destination_of(0) ...
/// destination_of(destinations - 1).
template <class LinesOf, class DestinationOf>
struct LineReduction {
    std::byte *destination;
    const LinesOf &lines_of;  // of a rank; null for this one
    const std::byte *own;     // this rank's elements
    std::uint64_t bytes;
    int ranks;
    int op;
    bool unaligned;
    int destinations;
    const DestinationOf &destination_of;
};

/// Reduces in runs with `lines` lines for each thread, in the order of ranks. The lines of `batch` ranks are polled at
/// once.
template <class T, int batch, int lines, class Reduction, class Spin>
__device__ inline bool reduce_runs(const Reduction &all, std::uint64_t epoch, unsigned takers, Spin &spin) {
    for (LineRuns<lines> runs(1, all.bytes, takers); runs.more(); runs.advance()) {
        const LineRun<lines> run(runs.run(), all.bytes);
        LineWords words[lines];
        Lanes<T, LineWords> lanes[lines];
        load_run(words, all.own, run, all.unaligned);
        for (int first = 0; first < all.ranks; first += batch) {
            const DataLine *from[batch];
            LineWords held[batch][lines];
#pragma unroll
            for (int r = 0; r < batch; ++r) from[r] = first + r < all.ranks ? all.lines_of(first + r) : nullptr;
            if (!poll_lines(from, run, held, epoch, spin)) return false;
            with_op(all.op, [&](auto constant) {
#pragma unroll
                for (int r = 0; r < batch; ++r) {
#pragma unroll
                    for (int k = 0; k < lines; ++k) {
                        const LineWords theirs{from[r] == nullptr ? words[k].low : held[r][k].low,
                                               from[r] == nullptr ? words[k].high : held[r][k].high};
                        if (first + r == 0) {
                            lanes[k].start(theirs);
                        } else if (first + r < all.ranks) {
                            lanes[k].join(constant, theirs);
                        }
                    }
                }
            });
        }
#pragma unroll
        for (int k = 0; k < lines; ++k) words[k] = lanes[k].result(all.op, all.ranks);
        store_run(all.destination, run, words, all.unaligned);
        if (all.destinations == 0) continue;
        stamp(words, epoch);
        for (int j = 0; j < all.destinations; ++j) store_lines(all.destination_of(j), run, words);
    }
    return true;
}

/// Reduces `count` elements of all ranks. `destination` may equal `own`; both may have any alignment.
template <class T, class LinesOf, class DestinationOf, class Spin>
__device__ inline bool reduce_lines(std::byte *destination, const LinesOf &lines_of, const std::byte *own, int ranks,
                                    std::uint64_t count, int op, int destinations, const DestinationOf &destination_of,
                                    std::uint64_t epoch, unsigned takers, Spin &spin) {
    if (threadIdx.x >= takers) return true;
    const std::uint64_t bytes = count * sizeof(T);
    const bool unaligned = is_unaligned(destination, bytes) || is_unaligned(own, bytes);
    const LineReduction<LinesOf, DestinationOf> all{destination, lines_of,  own,          bytes,         ranks,
                                                    op,          unaligned, destinations, destination_of};
    // About the same number of lines is under way in each case.
    return ranks <= 2   ? reduce_runs<T, 2, 3>(all, epoch, takers, spin)
           : ranks <= 4 ? reduce_runs<T, 4, 2>(all, epoch, takers, spin)
                        : reduce_runs<T, 8, 1>(all, epoch, takers, spin);
}

}  // namespace on_device
}  // namespace baton::core
