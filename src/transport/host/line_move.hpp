#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sync/data_line.hpp"
#include "sync/platform.hpp"
#include "transport/host/move.hpp"

/// The host twin of kernel/line_move.cuh: the same lines, but each is moved by the calling thread alone.
namespace baton::core {
inline namespace on_host {

/// Calls visit(line, first byte, bytes) for each line of `bytes`, until it returns false.
template <class F>
bool for_each_line(std::uint64_t bytes, const F &visit) {
    for (std::uint64_t at = 0; at < bytes; at += DataLine::payload) {
        if (!visit(at / DataLine::payload, at, std::min<std::uint64_t>(DataLine::payload, bytes - at))) return false;
    }
    return true;
}

inline void put_lines(DataLine *lines, const std::byte *source, std::uint64_t bytes, std::uint64_t epoch) {
    for_each_line(bytes, [&](std::uint64_t line, std::uint64_t at, std::uint64_t size) {
        std::memcpy(lines[line].data, source + at, size);
        store_release(&lines[line].epoch, epoch);
        return true;
    });
}

/// Waits for the lines of `bytes`, writes them to `destination`, and calls came(line, first byte, bytes) after each.
/// False if `spin` ended a wait.
template <class Came, class Spin>
bool take_lines(std::byte *destination, const DataLine *lines, std::uint64_t bytes, std::uint64_t epoch,
                const Came &came, Spin &spin) {
    return for_each_line(bytes, [&](std::uint64_t line, std::uint64_t at, std::uint64_t size) {
        if (!wait_for_epoch(&lines[line].epoch, epoch, spin)) return false;
        std::memcpy(destination + at, lines[line].data, size);
        came(line, at, size);
        return true;
    });
}

/// Reduces `count` elements of all ranks, in the order of ranks. lines_of(r) are the lines of rank r, or null for this
/// rank, whose elements are `own`. Calls came(line, first byte, bytes) after each line of the result. `destination` may
/// equal `own`; both may have any alignment. False if `spin` ended a wait.
template <class T, class LinesOf, class Came, class Spin>
bool reduce_lines(std::byte *destination, const LinesOf &lines_of, const std::byte *own, int ranks, std::uint64_t count,
                  int op, std::uint64_t epoch, const Came &came, Spin &spin) {
    return for_each_line(count * sizeof(T), [&](std::uint64_t line, std::uint64_t at, std::uint64_t size) {
        const T *sources[max_ranks];
        for (int rank = 0; rank < ranks; ++rank) {
            const DataLine *theirs = lines_of(rank);
            if (theirs != nullptr && !wait_for_epoch(&theirs[line].epoch, epoch, spin)) return false;
            sources[rank] = reinterpret_cast<const T *>(theirs == nullptr ? own + at : theirs[line].data);
        }
        reduce_block<T>(reinterpret_cast<T *>(destination + at), sources, ranks, size / sizeof(T), op);
        came(line, at, size);
        return true;
    });
}

}  // namespace on_host
}  // namespace baton::core
