#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "memory/shared_segment.hpp"

namespace baton::core {

/// A place where the hosts of all ranks tell each other the arguments of a call: copy engines need the peers' addresses
/// when their work is enqueued. Calls are counted; the n-th post of every rank belongs to the same call.
///
/// Each rank has a ring of entries that it alone writes: number 0, then payload and number, each with release. Readers
/// take the number, the payload, and the number again, each with acquire (a seqlock: a rank 64 calls ahead may be
/// writing the entry again; a reader that took one of its words sees at least the 0 that came before it).
class Rendezvous {
public:
    /// The words of the call's arrival (sync/arrival.hpp): what it is, and where the rank's buffers are.
    using Entry = std::array<std::uint64_t, 5>;

    /// Collective.
    Rendezvous(Bootstrap &bootstrap, int rank, int size);

    /// Tells the others; returns the call's number.
    std::uint64_t post(const Entry &entry);

    /// The entries of all ranks for call `number`; waits for them until `patience` is over. Returns the rank that has
    /// not come, or -1 when all have.
    int collect(std::uint64_t number, std::chrono::nanoseconds patience, std::vector<Entry> &all) const;

    /// A rank that captures calls posts nothing for their replays, so numbers would drift apart: once any rank has
    /// captured, nobody relies on collect() any more. Set by that rank before its call returns, read by all.
    void close();
    bool closed() const;

private:
    static constexpr std::uint64_t ring = 64;
    struct alignas(64) Slot {
        std::uint64_t number;
        Entry words;
    };
    struct Slice {
        std::uint64_t closed;
        alignas(64) Slot slots[ring];
    };
    Slice *slice(int rank) const { return reinterpret_cast<Slice *>(segment_.slice(rank)); }

    SharedSegment segment_;
    int rank_;
    int size_;
    std::uint64_t posted_ = 0;
};

}  // namespace baton::core
