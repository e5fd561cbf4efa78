#pragma once

#include <cstdint>

#include "baton/baton.h"
#include "sync/arrival.hpp"
#include "sync/platform.hpp"

namespace baton::core {

/// Why a rank gave up, as one word that a kernel can store into its peers' arenas: never 0.
struct AbortWord {
    static BATON_HD std::uint64_t make(int code, int reporter, int culprit) {
        return static_cast<std::uint64_t>(code) | static_cast<std::uint64_t>(reporter + 1) << 8 |
               static_cast<std::uint64_t>(culprit + 1) << 24;
    }
    static int code(std::uint64_t word) { return static_cast<int>(word & 0xFF); }
    static int reporter(std::uint64_t word) { return static_cast<int>(word >> 8 & 0xFFFF) - 1; }
    static int culprit(std::uint64_t word) { return static_cast<int>(word >> 24 & 0xFFFF) - 1; }
};

/// What a wait was for, named in the error message that the user reads.
enum class WaitFor : std::uint64_t {
    arrival,
    data,
    done,
    credit,
    reply,
    header,
    taken,
    consumed,
    signal
};

/// Where an operation is, for the error record when it cannot go on.
struct OperationPoint {
    std::int32_t peer = 0;  // the rank waited for, or that disagrees
    std::int32_t channel = 0;
    std::uint64_t epoch = 0;  // operation number on the channel, or message number of the pair
    WaitFor wait_for = WaitFor::arrival;
    Signature mine;
};

struct ErrorRecord {
    std::uint64_t code;  // baton_result
    OperationPoint point;
    Signature theirs;  // mismatch only
};

/// One per communicator and rank, in memory that both this process's host threads and its kernels reach (pinned).
struct Control {
    std::uint64_t abort;     // an AbortWord: written by host threads (peer death, baton_comm_abort), read by waiters
    std::uint64_t seen;      // an AbortWord from a peer, copied here by waiters, for threads that read no arena
    std::uint64_t recorded;  // 1 once `record` is complete: written with release by the waiter that claimed it
    ErrorRecord record;
};

/// True once this process, or one of its waiters, knows that the communicator is broken. For a host thread that waits
/// for something outside of the arenas.
inline bool is_broken(const Control &control) {
    return load_relaxed(&control.abort) != 0 || load_relaxed(&control.seen) != 0 ||
           load_relaxed(&control.recorded) != 0;
}

}  // namespace baton::core
