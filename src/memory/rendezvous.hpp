#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "memory/shared_segment.hpp"

namespace baton::core {

/// A place where the hosts of the ranks tell each other the arguments of a call: copy engines need the peers' addresses
/// when their work is enqueued. Collective calls are counted: the n-th post of every rank belongs to the same call.
/// Messages that copy engines may carry are counted for each ordered pair: the receiver's n-th post for the sender
/// belongs to the sender's n-th such message.
///
/// Each rank alone writes its entries: those of its last calls for all, and those of its last posts for each peer. An
/// entry is a seqlock, because a rank that is far enough ahead may be writing it again. The writer stores number 0
/// (relaxed), then payload and number, each with release. Readers load number and payload with acquire, then the number
/// again (relaxed): a reader that took a newer word of the payload sees at least the 0 that came before it.
class Rendezvous {
public:
    /// The words of the call's arrival (sync/arrival.hpp): what the call is, and where the rank's buffers are.
    using Entry = std::array<std::uint64_t, 5>;

    /// Collective. `stop` ends every wait as if its patience were over, for when nobody will come any more. The waiting
    /// thread calls it.
    explicit Rendezvous(
        Bootstrap &bootstrap, std::function<bool()> stop = [] { return false; });

    /// Posts an entry for all ranks; returns the call's number.
    std::uint64_t post(const Entry &entry);

    /// Collects the entries of all ranks for call `number`, and waits for them until `patience` is over. Returns -1
    /// when it has all, else the first rank whose entry has not come or has been written over.
    int collect(std::uint64_t number, std::chrono::nanoseconds patience, std::vector<Entry> &all) const;

    /// Number of posts for a peer that are kept until it looks at them. A receiver's host runs ahead of its sender's,
    /// which has more to enqueue, until the receiver's stream takes no more: 1024 commands, of which a recv is two or
    /// more. If a post has been written over by then, the message goes by kernels.
    static constexpr std::uint64_t pair_entries = 512;

    /// Posts an entry for one peer.
    void post_to(int peer, const Entry &entry);
    /// Returns the number of the next post of `peer` for this rank, and counts it.
    std::uint64_t next_from(int peer) { return ++looked_for_[static_cast<std::size_t>(peer)]; }
    /// Waits until `until` for that post; looks once at least. False if it has not come, or has been written over.
    bool await_post(int peer, std::uint64_t number, std::chrono::steady_clock::time_point until, Entry &entry) const;

    /// Says that this rank has captured calls. It posts nothing for their replays, so numbers would drift apart: once
    /// any rank has captured, nobody relies on collect() or await_post() any more. Set by that rank before its call
    /// returns, read by all.
    void close();
    bool closed() const;

    /// Shared memory of this rank.
    std::size_t shared_bytes() const { return segment_.bytes_per_rank(); }

private:
    static constexpr std::uint64_t call_entries = 64;
    struct alignas(64) Slot {
        std::uint64_t number;
        Entry words;
    };
    struct Slice {
        std::uint64_t closed;
        alignas(64) Slot slots[call_entries];
        // Slot [to][pair_entries] follows.
    };
    Slice *slice(int rank) const { return reinterpret_cast<Slice *>(segment_.slice(rank)); }
    Slot &pair_slot(int from, int to, std::uint64_t number) const {
        return reinterpret_cast<Slot *>(slice(from) +
                                        1)[static_cast<std::uint64_t>(to) * pair_entries + number % pair_entries];
    }
    static void write(Slot &slot, std::uint64_t number, const Entry &entry);
    /// Reads the entry once it is there. False when `until` has passed, stop_() says so, or a later entry is there.
    bool read(Slot &slot, std::uint64_t number, std::chrono::steady_clock::time_point until, Entry &entry) const;

    SharedSegment segment_;
    const int rank_;
    const int size_;
    const std::function<bool()> stop_;
    std::uint64_t posted_ = 0;
    std::vector<std::uint64_t> posted_to_;
    std::vector<std::uint64_t> looked_for_;
};

}  // namespace baton::core
