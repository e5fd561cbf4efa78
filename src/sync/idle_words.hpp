#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "memory/shared_segment.hpp"

namespace baton::core {

/// The zero-SM mode's synchronisation: words that stream memory operations write and wait on, and that return to idle.
///
/// A stream operation's value is fixed when it is enqueued, so a counter cannot work in a captured graph. The words
/// hold 0 or 1: for a phase, a rank writes 1 into its word at every peer, waits until its own word from every peer is
/// 1, and writes those back to 0. An operation has two phases on two sets of words, ready and complete. A peer writes
/// ready again only after it has seen my complete, which I write after resetting ready; it writes complete again only
/// after my next ready, which I write after resetting complete: so no 1 is lost and none is seen twice, at enqueueing
/// and at replay alike. Order: one rank's operations run in order; writes carry a memory barrier, so copies enqueued
/// before a phase are visible to a rank that has waited in it.
///
/// They lie in host memory that all ranks share, so that the service thread sees who has not come and can end a wait by
/// plain loads and stores. GPU work of its own could queue behind that very wait.
class IdleWords {
public:
    /// An operation's phases.
    static constexpr int ready = 0;
    static constexpr int complete = 1;

    /// Collective.
    explicit IdleWords(Bootstrap &bootstrap);

    struct Operation {
        enum class Kind {
            write,
            wait_until_equal
        };
        Kind kind;
        std::uint64_t *word;
        std::uint64_t value;
    };
    /// What this rank's stream does for a phase, in order.
    std::vector<Operation> operations(int phase) const;

    struct Overdue {
        int phase;
        int peer;  // that has not come
    };
    /// Returns a phase that this rank's stream has waited in for `timeout` or longer. The clock of a phase starts at
    /// the first call that finds the stream in it. By one thread at a time.
    std::optional<Overdue> overdue(std::chrono::steady_clock::time_point now, std::chrono::nanoseconds timeout);

    /// Ends the waits that this rank's stream is in, or comes to within milliseconds, once the communicator is broken.
    /// To be called again and again, for what is queued behind. Any thread.
    void release();

    std::byte *memory() const { return segment_.slice(0); }
    std::size_t bytes() const { return segment_.total_bytes(); }
    /// This rank's part of them.
    std::size_t shared_bytes() const { return segment_.bytes_per_rank(); }

private:
    static constexpr int phases = 2;

    /// `from`'s stream writes 1 (so does `at`'s release()) and `at`'s stream 0; `at` reads. Where from == at the word
    /// is not 0 while the rank's stream is in the phase: the stream writes 1, and the service thread turns that into
    /// `seen`. If it finds `seen` later, the stream has not left the phase meanwhile.
    std::uint64_t *word(int phase, int at, int from) const;
    static constexpr std::uint64_t seen = 2;

    struct alignas(64) Line {
        std::uint64_t word;
    };

    const int rank_;
    const int size_;
    SharedSegment segment_;
    std::array<std::chrono::steady_clock::time_point, phases> since_{};
};

}  // namespace baton::core
