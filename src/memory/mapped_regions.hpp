#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "memory/memory_domain.hpp"
#include "memory/region.hpp"

namespace baton::core {

/// All ranks' regions as this process sees them: the peers' ones mapped, this rank's own at their own addresses, each
/// with its entry in the table that kernels read. Thread-safe, except that map() of one owner's regions comes from one
/// thread at a time, and so does set_own().
class MappedRegions {
public:
    MappedRegions(MemoryDomain &domain, int rank, int size);
    ~MappedRegions(); /* unmaps everything, so it may wait for running kernels */
    MappedRegions(const MappedRegions &) = delete;
    MappedRegions &operator=(const MappedRegions &) = delete;

    /// Maps a peer's region and writes its entry. What the slot held before stays mapped until reclaim(), because a
    /// kernel may still be using it. Throws Failure with the reason.
    void map(int owner, const RegionPost &post, UniqueFd fd);

    /// The same for a region of this rank, which needs no mapping.
    void set_own(const RegionPost &post);
    void forget_own(std::uint32_t slot);

    using RetiredGeneration = std::function<std::uint64_t(int owner, std::uint32_t slot)>;

    /// Gives back the pages of what reclaim() would unmap, where the domain can do that at any time. Such a region is
    /// forgotten; only its unmapping is left to reclaim(). Takes no memory. What still looks there, which can only be
    /// an operation of a broken communicator, sees zeros.
    void give_back_pages(const RetiredGeneration &retired_generation) noexcept;

    /// Unmaps what map() has replaced, and what retired_generation(owner, slot) covers. Takes no memory, which may be
    /// short because of what is to be unmapped. REQUIRES: no kernel or copy uses a retired region.
    void reclaim(const RetiredGeneration &retired_generation) noexcept;
    /// Unmaps one region of a peer now, even if its owner has not retired it; does nothing if it is not mapped. Takes
    /// no memory. REQUIRES: no kernel or copy uses it.
    void unmap_region(int owner, const PublishedRegion &region) noexcept;
    /// Whether give_back_pages() has left something to reclaim() since the last one. Cheap.
    bool has_left_for_reclaim() const { return left_for_reclaim_.load(std::memory_order_relaxed); }

    void *address(int owner, const PublishedRegion &region) const;
    void *address_for_copies(int owner, const PublishedRegion &region, Copies which) const;
    const RegionEntry *table() const { return table_; }
    std::size_t table_bytes() const { return table_entries_ * sizeof(RegionEntry); }

private:
    struct Mapping {
        int owner = 0;
        RegionPost post;
        void *address = nullptr;
    };
    static std::uint64_t key(int owner, std::uint32_t slot) { return static_cast<std::uint64_t>(owner) << 32 | slot; }
    // Nodes move between these maps, which takes no memory. current_ alone has this rank's regions; its keys are
    // unique.
    using Mappings = std::multimap<std::uint64_t, Mapping>;
    void store(int owner, const RegionPost &post, void *address);
    Mappings take_retired(const RetiredGeneration &retired_generation);  /* with the lock held */
    const Mapping *find(int owner, const PublishedRegion &region) const; /* with the lock held */
    void unmap(const Mapping &mapping) noexcept;

    MemoryDomain &domain_;
    const int rank_;
    const std::size_t table_entries_;
    RegionEntry *table_ = nullptr;

    mutable std::mutex mutex_;
    Mappings current_;
    Mappings replaced_;
    Mappings without_pages_;
    std::atomic<bool> left_for_reclaim_{false};  // written with the lock held
};

}  // namespace baton::core
