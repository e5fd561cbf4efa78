#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/baton.h"

#include "bootstrap/bootstrap.hpp"
#include "memory/memory_domain.hpp"
#include "memory/peer_callbacks.hpp"
#include "memory/region.hpp"

namespace baton::core {

/// The board, the service thread, and the tables of mapped peer regions: how a rank makes an allocation known to all
/// peers without any of them being in a call, and how it learns that a peer's process has ended.
///
/// Owner: publish() writes its post on the board, sends a datagram (with the file descriptor, if any) to every peer's
/// service socket, and waits until all have acknowledged. Peer: the service thread maps the region, writes its entry of
/// the table, stores the acknowledgement. The service thread makes no MPI call and waits for no kernel (but see
/// MemoryDomain::import_region), so it answers while kernels of its process spin.
///
/// Thread-safe. The constructor is collective; the destructor is local.
class PeerMemory {
public:
    /// The callbacks may come before the constructor has returned.
    /// `processors`: where the service thread runs; empty: anywhere.
    PeerMemory(Bootstrap &bootstrap, MemoryDomain &domain, PeerCallbacks callbacks,
               const std::vector<int> &processors = {});
    ~PeerMemory();
    PeerMemory(const PeerMemory &) = delete;
    PeerMemory &operator=(const PeerMemory &) = delete;

    /// Makes a region known and returns when every peer has mapped it. Throws NotMapped with the reason if it cannot be
    /// exported, or if a peer, which the reason names, could not map it (then no peer keeps it). Also throws
    /// BATON_ERR_MEMORY if all of these slots are taken, BATON_ERR_TIMEOUT, BATON_ERR_PEER_DEAD, and the failure of
    /// interruption().
    PublishedRegion publish(const Export &exported, std::chrono::milliseconds timeout,
                            RegionSlots slots = RegionSlots::callers);

    /// Says that the owner will not name the region any more. Its slot may be used again. Peers unmap the region at
    /// reclaim(); where the domain can give back pages alone, they do that within a tick of their service threads.
    void retire(std::uint32_t slot) noexcept;

    /// True if there may be something to reclaim(). Cheap.
    bool has_retired() const;

    /// Unmaps peers' retired regions. REQUIRES: no operation of any communicator of this process in flight (Reclaimer).
    void reclaim() noexcept;

    /// Unmaps a peer's region before its owner frees the memory, so that it is back at once. REQUIRES: what reclaim()
    /// does where unmapping may wait for kernels; no rank is in an operation that uses the region, or will start one.
    void unmap(int owner, const PublishedRegion &region) noexcept;

    /// Ends the service thread: no callback runs after this, and peers' posts are not answered any more. Local.
    void stop();

    /// Unmaps all peers' regions: importers close before owners free. REQUIRES: stop() was called, and no rank is in
    /// an operation or will start one (a barrier of all ranks lies between the last operation and this).
    void unmap_peers();

    /// Where this process sees a peer's region (own regions: the owner's address); nullptr if the generation is gone.
    void *address(int owner, const PublishedRegion &region) const;
    /// The same for copies that the host enqueues. Also nullptr for what only kernels may be given (PoolMappings), and
    /// with Copies::where_fast for what they should be given.
    void *address_for_copies(int owner, const PublishedRegion &region, Copies which) const;

    /// [size][region_slots] entries in host memory that the domain's kernels can read. Operations keep copies
    /// (sync/region_lookup.hpp).
    const RegionEntry *table() const;

    /// Says that this rank comes to a wait for all ranks. All ranks come to the same ones in the same order.
    void come_to_meeting();
    /// Returns the ranks that have not come to the wait that this rank came to last.
    std::vector<int> missing() const;

    /// Tells the peers that this rank leaves in order, so that its end is no death. Called before destruction.
    void leave();

    /// Makes a publish() in progress and all later ones fail with `reason`, which has broken the communicator.
    void interrupt(const Failure &reason) noexcept;
    /// Returns what makes publications fail, if anything: interrupt(), a peer's end, or a publish() that failed after
    /// its post. Then publish() fails because of it, and the code of its failure says nothing about the memory.
    std::optional<Failure> interruption() const;

    /// Posts on the board why this rank considers the communicator broken: one text per rank, its first writer wins.
    void post_error(const Failure &reason) noexcept;
    /// Returns what `rank` has posted; nothing while there is none.
    std::optional<Failure> error_of(int rank) const noexcept;

    std::size_t shared_bytes() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace baton::core
