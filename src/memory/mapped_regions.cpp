#include "memory/mapped_regions.hpp"

#include <utility>

#include "memory/table_entry.hpp"
#include "util/failure.hpp"
#include "util/log.hpp"

namespace baton::core {
namespace {

/// Copy engines that write to a peer's cudaMalloc memory take up to 1.45 times as long beside other copies if its size
/// is no multiple of 64 KiB, supposedly because the driver maps it in smaller pages. Kernels take no longer
/// (docs/experiments.md). Small allocations lie in blocks of 2 MiB, which are mapped whole.
bool slows_copy_engines(const RegionPost &post) {
    constexpr std::uint64_t block = 2 << 20;
    constexpr std::uint64_t large_page = 64 << 10;
    return post.kind == HandleKind::cuda_ipc && post.size > block && post.size % large_page != 0;
}

}  // namespace

MappedRegions::MappedRegions(MemoryDomain &domain, int rank, int size)
    : domain_(domain),
      rank_(rank),
      table_entries_(static_cast<std::size_t>(size) * region_slots),
      table_(static_cast<RegionEntry *>(domain.allocate_shared_with_kernels(table_entries_ * sizeof(RegionEntry)))) {}

MappedRegions::~MappedRegions() {
    for (const Mappings *const mappings : {&current_, &replaced_, &without_pages_}) {
        for (const auto &[slot, mapping] : *mappings) unmap(mapping);
    }
    try {
        domain_.release_shared_with_kernels(table_);
    } catch (const std::exception &failure) {
        log(LogLevel::warn, rank_, "the region table was not freed: {}", failure.what());
    }
}

void MappedRegions::map(int owner, const RegionPost &post, UniqueFd fd) {
    if (post.slot >= region_slots) fail(BATON_ERR_INTERNAL, "slot {} of {}", post.slot, region_slots);
    void *const address = domain_.import_region(owner, post, std::move(fd));  // without the lock: takes milliseconds
    try {
        store(owner, post, address);
    } catch (...) {
        unmap({owner, post, address});
        throw;
    }
}

void MappedRegions::set_own(const RegionPost &post) { store(rank_, post, reinterpret_cast<void *>(post.base)); }

void MappedRegions::store(int owner, const RegionPost &post, void *address) {
    Mappings one;  // what may fail comes first
    one.emplace(key(owner, post.slot), Mapping{owner, post, address});
    const std::lock_guard lock(mutex_);
    auto old = current_.extract(key(owner, post.slot));
    if (old && owner != rank_) replaced_.insert(std::move(old));
    current_.merge(one);
    const RegionEntry entry{reinterpret_cast<std::uintptr_t>(address), post.generation};
    write_entry(table_[static_cast<std::size_t>(owner) * region_slots + post.slot], entry);
}

void MappedRegions::forget_own(std::uint32_t slot) {
    const std::lock_guard lock(mutex_);
    current_.erase(key(rank_, slot));
}

MappedRegions::Mappings MappedRegions::take_retired(const RetiredGeneration &retired_generation) {
    Mappings retired;
    for (auto next = current_.begin(); next != current_.end();) {
        const auto here = next++;
        const Mapping &mapping = here->second;
        if (mapping.owner != rank_ && mapping.post.generation <= retired_generation(mapping.owner, mapping.post.slot))
            retired.insert(current_.extract(here));
    }
    retired.merge(replaced_);
    return retired;
}

void MappedRegions::give_back_pages(const RetiredGeneration &retired_generation) noexcept {
    if (!domain_.can_give_back_pages()) return;
    Mappings retired;
    {
        const std::lock_guard lock(mutex_);
        retired = take_retired(retired_generation);
    }
    // Without the lock: it takes the longer the more pages there are. reclaim() does not know of these meanwhile.
    Mappings given;
    for (auto next = retired.begin(); next != retired.end();) {
        const auto here = next++;
        const Mapping &mapping = here->second;
        if (domain_.give_back_pages(mapping.post, mapping.address)) given.insert(retired.extract(here));
    }
    const std::lock_guard lock(mutex_);
    without_pages_.merge(given);
    replaced_.merge(retired);
    left_for_reclaim_ = !without_pages_.empty() || !replaced_.empty();
}

void MappedRegions::reclaim(const RetiredGeneration &retired_generation) noexcept {
    Mappings gone;
    {
        const std::lock_guard lock(mutex_);
        gone = take_retired(retired_generation);
        gone.merge(without_pages_);
        left_for_reclaim_ = false;
    }
    for (const auto &[slot, mapping] : gone) unmap(mapping);
}

void MappedRegions::unmap_region(int owner, const PublishedRegion &region) noexcept {
    Mappings gone;
    {
        const std::lock_guard lock(mutex_);
        const auto found = current_.find(key(owner, region.slot));
        if (owner == rank_ || found == current_.end() || found->second.post.generation != region.generation) return;
        gone.insert(current_.extract(found));
    }
    unmap(gone.begin()->second);
}

void MappedRegions::unmap(const Mapping &mapping) noexcept {
    if (mapping.owner == rank_) return;
    try {
        domain_.unimport_region(mapping.post, mapping.address);
    } catch (const std::exception &error) {
        log(LogLevel::warn, rank_, "a region of rank {} stays mapped: {}", mapping.owner, error.what());
    }
}

void *MappedRegions::address(int owner, const PublishedRegion &region) const {
    const std::lock_guard lock(mutex_);
    const Mapping *const mapping = find(owner, region);
    return mapping == nullptr ? nullptr : mapping->address;
}

void *MappedRegions::address_for_copies(int owner, const PublishedRegion &region, Copies which) const {
    const std::lock_guard lock(mutex_);
    const Mapping *const mapping = find(owner, region);
    if (mapping == nullptr) return nullptr;
    const bool by_kernels_alone = owner != rank_ && mapping->post.kind == HandleKind::pool_fd;
    const bool better_by_kernels = which == Copies::where_fast && owner != rank_ && slows_copy_engines(mapping->post);
    return by_kernels_alone || better_by_kernels ? nullptr : mapping->address;
}

const MappedRegions::Mapping *MappedRegions::find(int owner, const PublishedRegion &region) const {
    const auto found = current_.find(key(owner, region.slot));
    return found == current_.end() || found->second.post.generation != region.generation ? nullptr : &found->second;
}

}  // namespace baton::core
