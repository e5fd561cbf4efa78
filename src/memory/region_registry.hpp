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
    /// How far the communicator's issued operations are. Called with the registry's lock held.
    struct Issued {
        std::function<void()> mark;     // makes `is_done` speak of what has been issued by now
        std::function<bool()> is_done;  // never waits
    };
    /// Told when memory that the registry gave has been freed, because other communicators may have a region there.
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
    /// range over several chunks has no region, because each chunk is exported alone. If no slot is free, there is no
    /// region for this call, and the next one tries again. Each try asks the domain about all regions, whose memory may
    /// be freed by now.
    Location locate(const PointerInfo &info, const void *pointer, std::size_t bytes);

    /// locate() without publishing, which is all that explain may do. Empty if the region would have to be published.
    std::optional<Location> peek(const PointerInfo &info, const void *pointer, std::size_t bytes) const;

    /// baton_register / baton_deregister: counted. add() takes what locate() does, and tries again what has been
    /// refused before, as the cause may have gone. It throws BATON_ERR_UNSUPPORTED with the reason where the memory
    /// cannot be exported, NotMapped where the system or a peer refuses it, BATON_ERR_MEMORY where no slot is free.
    /// remove() throws BATON_ERR_ARGUMENT where add() was not called.
    void add(const PointerInfo &info, const void *pointer, std::size_t bytes);
    void remove(const void *pointer);

    /// baton_malloc / baton_free: memory of the domain, published from birth if peers can map it at all. allocate()
    /// throws BATON_ERR_MEMORY where no slot is free. release() throws BATON_ERR_ARGUMENT for a pointer that allocate()
    /// did not give: memory of allocate_published() is not the user's to free.
    void *allocate(std::size_t bytes);
    void release(void *pointer);

    /// Memory of the domain that no peer is told of, so that it takes no slot. Freed with the registry.
    void *allocate_scratch(std::size_t bytes);

    /// Memory that all peers have mapped, in slots that are Baton's own: for arenas, windows and staging.
    struct Allocation {
        void *pointer = nullptr;
        PublishedRegion published;
    };
    Allocation allocate_published(std::size_t bytes);
    void release_published(void *pointer);

    /// Drops the region of memory that another communicator has freed; retire_dropped() retires it. Does not wait: if
    /// something is being published here, it leaves everything to retire_dropped().
    void forget(const PointerInfo &freed) noexcept;

    /// Retires the regions of freed memory that no operation under way may name any more. Publishing does so too; this
    /// is for programs that have nothing new to publish. Cheap where there are none.
    void retire_dropped();

    /// Returns the bytes that were asked for when the registry gave this memory, which must still be alive; its
    /// allocation is rounded up. Empty for memory that the registry did not give.
    std::optional<std::uint64_t> asked_bytes(const PointerInfo &info) const;

    std::size_t count() const;
    std::size_t allocated_bytes() const; /* asked for by the calls above, alive */
    std::size_t own_bytes() const;       /* of these: not by allocate_published() */

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace baton::core
