#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "baton/baton.h"

#include "bootstrap/bootstrap.hpp"
#include "memory/region.hpp"
#include "memory/shared_segment.hpp"
#include "util/failure.hpp"
#include "util/limits.hpp"
#include "util/process_watch.hpp"

namespace baton::core {

/// Who a rank is. Written before the board's constructor returns, constant afterwards.
struct Identity {
    ProcessIdentity process;
    std::uint64_t net_namespace = 0;  // as pid_namespace, for the names of abstract sockets
    char doorbell[64] = {};
};

/// A peer's answer to an owner's post, on the owner's record. Written by that peer's service thread, read by the owner.
struct alignas(64) Ack {
    std::uint64_t number;  // of the last post dealt with: stored last, with release; the owner loads it with acquire
    std::uint32_t code;    // baton_result of that post
    char text[244];        // reason, where code is not BATON_SUCCESS
};

/// One rank's record. "Owner" is the rank whose record it is; every word has one writer, except acks and `bell`.
struct BoardRecord {
    Identity identity;

    /// The owner's current post, and its number: `post` is written first, `posted` with release after it. The owner
    /// writes the next one only when every peer has acknowledged this one (publications of a rank are one at a time),
    /// so a peer that has seen the number can read the post at leisure, and a single place is enough.
    alignas(64) std::uint64_t posted;
    RegionPost post;

    /// Incremented by whoever has news for the owner's publish(): peers after an acknowledgement, the owner's own
    /// service thread after a peer's end or an interruption. The owner sleeps on it (futex), so it is 32 bits.
    alignas(64) std::uint32_t bell;

    /// Generations up to this one are retired, per slot. Owner: release. Peers look at reclaim(), their service threads
    /// where pages can be given back before.
    alignas(64) std::uint64_t retired[region_slots];

    /// How many retirements there have been, so that peers see cheaply whether there is something to unmap. Owner:
    /// release.
    std::uint64_t retirements;

    /// 1: the owner leaves in order (release, before its process ends; looked at after its end was seen).
    alignas(64) std::uint32_t left;

    /// 1: the owner's service thread has stopped; it acknowledges nothing any more. Owner: release.
    std::uint32_t closed;

    /// How many times the owner has come to wait for all ranks in the bootstrap: tells the others who is missing.
    /// Owner: release.
    std::uint64_t meetings;

    /// Why the owner considers the communicator broken: error_state goes 0 -> 1 (claimed by a thread of the owner)
    /// -> 2 (complete, release), once.
    std::uint32_t error_state;
    std::uint32_t error_code;
    char error_text[500];

    Ack acks[max_ranks];
};

/// Node-shared memory with one record per rank: all host-side coordination after creation goes through it.
class Board {
public:
    /// Collective. Throws BATON_ERR_UNSUPPORTED where ranks live in different pid or network namespaces.
    Board(Bootstrap &bootstrap, const std::string &doorbell);

    int rank() const { return rank_; }
    int size() const { return size_; }
    BoardRecord &record(int rank) const { return *reinterpret_cast<BoardRecord *>(segment_.slice(rank)); }
    BoardRecord &mine() const { return record(rank_); }
    const Identity &identity(int rank) const { return record(rank).identity; }
    std::size_t bytes_per_rank() const { return segment_.bytes_per_rank(); }

    /// How many retirements there have been, of all ranks; and up to which generation a slot is retired.
    std::uint64_t retirements() const;
    std::uint64_t retired_generation(int owner, std::uint32_t slot) const {
        return std::atomic_ref(record(owner).retired[slot]).load(std::memory_order_acquire);
    }

    /// Why `rank` considers the communicator broken; nothing while it does not.
    std::optional<Failure> error_of(int rank) const noexcept;
    /// The same of the first rank that does. For who has seen a peer close or leave (acquire): if that peer
    /// went because of an error, some rank's is here by then. Not always its own, as a rank that has learnt of an error
    /// from another one does not post it again.
    std::optional<Failure> error_of_any() const noexcept;

    /// Lets a publish() of `rank` that sleeps look again.
    void ring_bell(int rank) const;
    /// Sleeps until the bell of `rank` differs from `seen`, or `limit` has passed, or for no reason.
    void sleep_on_bell(int rank, std::uint32_t seen, std::chrono::nanoseconds limit) const;

private:
    const int rank_;
    const int size_;
    SharedSegment segment_;
};

}  // namespace baton::core
