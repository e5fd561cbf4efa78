#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "memory/memory_domain.hpp"
#include "memory/peer_memory.hpp"

namespace baton::core {

/// This rank's regions on one communicator, found by (base, size, buffer id): memory that was freed and allocated again
/// at the same address is a new region with a new generation, never a stale mapping. Thread-safe.
class RegionRegistry {
public:
    /// How far the operations are that the communicator has issued. Called with the registry's lock held.
    struct Issued {
        std::function<void()> mark;     // what has been issued by now is what `is_done` speaks of
        std::function<bool()> is_done;  // never waits
    };
    /// Told of memory that the registry gave, when it has been freed: other communicators may have a region there.
    /// Called without the registry's lock, by release(), release_published() and the destructor.
    using Freed = std::function<void(const PointerInfo &)>;
    /// `timeout` is how long a peer may take to map a region. Without `issued`, everything counts as done.
    RegionRegistry(MemoryDomain &domain, PeerMemory &peers, std::chrono::milliseconds timeout, Issued issued = {},
                   Freed freed = {});
    void set_timeout(std::chrono::milliseconds timeout);
    ~RegionRegistry();

    /// Where a buffer lies, as an arrival names it.
    struct Location {
        bool direct = false;  // peers have it mapped: place and offset are valid
        PublishedRegion place{};
        std::uint64_t offset = 0;  // bytes from the region's base
        std::string reason;        // not direct: why the memory cannot be exported
    };

    /// Finds the region of [pointer, pointer + bytes), publishing its allocation at first use (which waits for the
    /// peers' service threads). `info` is the classification of `pointer`; the range must be mapped (usable_bytes). A
    /// range over several chunks has no region: a chunk is exported alone. Where no slot is free there is none for this
    /// call; the next one tries again, and each try asks the domain about all regions, whose memory may be freed by
    /// now.
    Location locate(const PointerInfo &info, const void *pointer, std::size_t bytes);

    /// locate() without publishing: what explain may look at. Nothing if the region would have to be published.
    std::optional<Location> peek(const PointerInfo &info, const void *pointer, std::size_t bytes) const;

    /// baton_register / baton_deregister: counted; throw BATON_ERR_UNSUPPORTED with the reason where the memory cannot
    /// be exported, BATON_ERR_MEMORY where no slot is free, BATON_ERR_ARGUMENT for a deregister without a register.
    /// What has been refused before is tried again, as the cause may have gone. add() takes what locate() does.
    void add(const PointerInfo &info, const void *pointer, std::size_t bytes);
    void remove(const void *pointer);

    /// baton_malloc / baton_free: memory of the domain, published from birth, or as far as peers can map it at all.
    /// allocate throws BATON_ERR_MEMORY where no slot is free. release throws BATON_ERR_ARGUMENT for a pointer that
    /// allocate did not give: allocate_published() is not the user's to undo.
    void *allocate(std::size_t bytes);
    void release(void *pointer);

    /// Memory of the domain that no peer is told of, so that it takes no slot; freed with the registry.
    void *allocate_scratch(std::size_t bytes);

    /// Memory that all peers have mapped, from the slots that are Baton's own: for arenas, windows and staging.
    struct Allocation {
        void *pointer = nullptr;
        PublishedRegion published;
    };
    Allocation allocate_published(std::size_t bytes);
    void release_published(void *pointer);

    /// Drops the region of memory that another communicator has freed; retire_dropped() retires it. Does not wait:
    /// while something is published here, all is left to that.
    void forget(const PointerInfo &freed) noexcept;

    /// Retires the regions of freed memory that no operation under way may name any more. Publishing does so too; this
    /// is for programs that have nothing new to publish. Cheap where there are none.
    void retire_dropped();

    /// The bytes that were asked for of memory given above and still alive; its allocation is rounded up. None for
    /// memory that the registry did not give.
    std::optional<std::uint64_t> asked_bytes(const PointerInfo &info) const;

    std::size_t count() const;
    std::size_t allocated_bytes() const; /* by allocate() and allocate_published(), alive */
    std::size_t own_bytes() const;       /* of them by allocate() */

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace baton::core
