#pragma once

#include "sync/wait.hpp"

/// How a rank's kernels learn what a peer's copy engines have pushed into this rank's buffers: one word for each peer
/// (Arena::pushed), which holds the number of the peer's operation and how many pieces of that have come.
/// - Written by a stream of the peer's when the copies of a piece are done, with a memory operation, which orders the
///   copies before the word for all of the system. Polled by this rank's blocks with acquire.
/// - The peer's host counts the numbers, since a stream's values are fixed when they are enqueued, and the peer's
///   arrival announces them. So nobody resets the word, and ranks need not agree on who pushes.
/// - Numbers come round after most_pushes operations that push. A rank pushes for its next one only when all have ended
///   the last, so the word holds the number of that one or of this.
namespace baton::core {

inline constexpr std::uint32_t most_pushes = (std::uint32_t{1} << 31) - 1;
/// 1 comes after most_pushes, since 0 says that a rank pushes nothing.
constexpr std::uint32_t number_after(std::uint32_t push_number) { return push_number % most_pushes + 1; }

BATON_HD constexpr std::uint64_t pushed_word(std::uint32_t push_number, std::uint32_t pieces) {
    return static_cast<std::uint64_t>(push_number) << 32 | pieces;
}

/// Waits until so many pieces of the operation have come. False if the wait must end before.
BATON_HD inline bool wait_for_pieces(const CommView &view, const OperationPoint &point, const std::uint64_t *word,
                                     std::uint32_t push_number, std::uint32_t pieces) {
    Spin spin(view, point);
    for (;;) {
        const std::uint64_t value = load_acquire(word);
        if (value >> 32 == push_number && static_cast<std::uint32_t>(value) >= pieces) return true;
        if (!spin.with_pauses()) return false;
    }
}

}  // namespace baton::core
