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
    std::uint64_t net_namespace = 0;  // like pid_namespace, for the names of abstract sockets
    char doorbell[64] = {};
};

/// A peer's answer to an owner's post, on the owner's record. Written by that peer's service thread, read by the owner.
struct alignas(64) Ack {
    std::uint64_t number;  // of the last post dealt with: stored last, with release; the owner loads it with acquire
    std::uint32_t code;    // baton_result of that post
    char text[244];        // reason, where code is not BATON_SUCCESS
};

/// One rank's record. Its "owner" is that rank, which alone writes it, except for `acks` and `bell`.
struct BoardRecord {
    Identity identity;

    /// The owner's current post, and its number. The owner writes `post` first, then stores `posted` with release. It
    /// writes the next post only when every peer has acknowledged this one (publications of a rank are one at a time).
    /// So one place is enough, and a peer that has seen the number can read the post at leisure.
    alignas(64) std::uint64_t posted;
    RegionPost post;

    /// Incremented by whoever has news for the owner's publish(): a peer that has acknowledged or stops its service
    /// thread, the owner itself after a peer's end or an interruption. The owner sleeps on it: a futex, so 32 bits.
    alignas(64) std::uint32_t bell;

    /// Per slot: generations up to this one are retired. Owner: release. Peers look at it in reclaim(), and earlier
    /// from their service threads where pages can be given back.
    alignas(64) std::uint64_t retired[region_slots];

    /// Number of retirements so far, so that peers see cheaply whether there is something to unmap. Owner: release.
    std::uint64_t retirements;

    /// 1: the owner leaves in order. Owner: release, before its process ends. Peers look at it once the owner is gone.
    alignas(64) std::uint32_t left;

    /// 1: the owner's service thread has stopped and acknowledges nothing any more. Owner: release.
    std::uint32_t closed;

    /// How many times the owner has come to a wait for all ranks in the bootstrap: tells the others who is missing.
    /// Owner: release.
    std::uint64_t meetings;

    /// Why the owner considers the communicator broken. `error_state` goes once from 0 to 1 (a thread of the owner has
    /// claimed it) to 2 (complete, release).
    std::uint32_t error_state;
    std::uint32_t error_code;
    char error_text[500];

    Ack acks[max_ranks];
};

/// Shared memory with one record per rank, by which hosts coordinate regions, meetings and failures after creation.
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

    /// Number of retirements so far, of all ranks; and the generation up to which a slot is retired.
    std::uint64_t retirements() const;
    std::uint64_t retired_generation(int owner, std::uint32_t slot) const {
        return std::atomic_ref(record(owner).retired[slot]).load(std::memory_order_acquire);
    }

    /// Why `rank` considers the communicator broken; nothing while it does not.
    std::optional<Failure> error_of(int rank) const noexcept;
    /// Error of the first rank that has one. If a peer closed or left because of an error, whoever has seen that
    /// (acquire) finds an error here. It need not be that peer's own: a rank that learns of an error from another one
    /// does not post it again.
    std::optional<Failure> error_of_any() const noexcept;

    /// Makes a sleeping publish() of `rank` look again.
    void ring_bell(int rank) const;
    /// Sleeps until the bell of `rank` differs from `seen`, or `limit` has passed; may also return for no reason.
    void sleep_on_bell(int rank, std::uint32_t seen, std::chrono::nanoseconds limit) const;

private:
    const int rank_;
    const int size_;
    SharedSegment segment_;
};

}  // namespace baton::core
