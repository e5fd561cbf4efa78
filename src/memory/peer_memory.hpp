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
/// the table, stores the acknowledgement. The service thread makes no MPI call and never waits for a kernel, so it
/// answers while kernels of its process spin.
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

    /// Makes a region known and returns when every peer has mapped it. Throws BATON_ERR_UNSUPPORTED with the peer and
    /// its reason where one could not map it (then no peer keeps it), BATON_ERR_TIMEOUT, or BATON_ERR_MEMORY where all
    /// of these slots are taken.
    PublishedRegion publish(const Export &exported, std::chrono::milliseconds timeout,
                            RegionSlots slots = RegionSlots::callers);

    /// The region's owner will not name it any more. Its slot may be used again; peers unmap it at reclaim(), and give
    /// its pages back within a tick of their service threads, where the domain can do that alone.
    void retire(std::uint32_t slot) noexcept;

    /// True if there may be something to reclaim(). Cheap.
    bool has_retired() const;

    /// Unmaps peers' retired regions. REQUIRES: no operation of any communicator of this process in flight (Reclaimer).
    void reclaim() noexcept;

    /// Unmaps a peer's region before its owner frees the memory: then that is back at once. REQUIRES what reclaim()
    /// does where unmapping may wait for kernels; no rank is in an operation that uses the region, or will start one.
    void unmap(int owner, const PublishedRegion &region) noexcept;

    /// Ends the service thread: no callback runs after this, and peers' posts are not answered any more. Local.
    void stop();

    /// Unmaps all peers' regions: importers close before owners free. REQUIRES: stop() was called, and no rank is in
    /// an operation or will start one (a barrier of all ranks lies between the last operation and this).
    void unmap_peers();

    /// Where this process sees a peer's region (own regions: the owner's address); nullptr if the generation is gone.
    void *address(int owner, const PublishedRegion &region) const;
    /// The same for copies that the host enqueues; nullptr also for what only kernels may be given (PoolMappings), or
    /// should.
    void *address_for_copies(int owner, const PublishedRegion &region, Copies which) const;

    /// [size][region_slots] entries in host memory that the domain's kernels can read. Kernels keep copies
    /// (sync/region_lookup.hpp).
    const RegionEntry *table() const;

    /// This rank comes to a wait for all ranks. All ranks come to the same ones in the same order.
    void come_to_meeting();
    /// The ranks that have not come to the wait that this rank has come to last.
    std::vector<int> missing() const;

    /// Tells the peers that this rank leaves in order, so that its end is no death. Before destruction.
    void leave();

    /// Breaks a publish() in progress and all later ones: the communicator is broken, and they fail as it has.
    void interrupt(const Failure &reason) noexcept;
    /// What has broken publications, if anything: interrupt(), a peer's end, or a publish() that failed behind its
    /// post. Then publish() fails because of it, and the code of its failure says nothing of the memory.
    std::optional<Failure> interruption() const;

    /// A text line per rank on the board for the reason a communicator broke: the first writer of a rank wins.
    void post_error(const Failure &reason) noexcept;
    /// The line of `rank`; nothing while there is none.
    std::optional<Failure> error_of(int rank) const noexcept;

    std::size_t shared_bytes() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace baton::core
