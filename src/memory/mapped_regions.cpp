#include "memory/mapped_regions.hpp"

#include <iterator>
#include <utility>

#include "memory/table_entry.hpp"
#include "util/failure.hpp"
#include "util/log.hpp"

namespace baton::core {

MappedRegions::MappedRegions(MemoryDomain &domain, int rank, int size)
    : domain_(domain),
      rank_(rank),
      table_entries_(static_cast<std::size_t>(size) * region_slots),
      table_(static_cast<RegionEntry *>(domain.allocate_shared_with_kernels(table_entries_ * sizeof(RegionEntry)))) {}

MappedRegions::~MappedRegions() {
    for (const auto &[slot, mapping] : current_) unmap(mapping);
    for (const Mapping &mapping : replaced_) unmap(mapping);
    try {
        domain_.release_shared_with_kernels(table_);
    } catch (const std::exception &failure) {
        log(LogLevel::warn, rank_, "the region table was not freed: {}", failure.what());
    }
}

void MappedRegions::map(int owner, const RegionPost &post, int fd) {
    if (post.slot >= region_slots) fail(BATON_ERR_INTERNAL, "slot {} of {}", post.slot, region_slots);
    void *const address = domain_.import_region(owner, post, fd);  // without the lock: takes milliseconds
    try {
        store(owner, post, address);
    } catch (...) {
        unmap({owner, post, address});
        throw;
    }
}

void MappedRegions::set_own(const RegionPost &post) { store(rank_, post, reinterpret_cast<void *>(post.base)); }

void MappedRegions::store(int owner, const RegionPost &post, void *address) {
    const std::lock_guard lock(mutex_);
    Mapping &mapping = current_[key(owner, post.slot)];
    if (mapping.post.generation != 0) replaced_.push_back(mapping);
    mapping = {owner, post, address};
    const RegionEntry entry{reinterpret_cast<std::uintptr_t>(address), post.generation};
    write_entry(table_[static_cast<std::size_t>(owner) * region_slots + post.slot], entry);
}

void MappedRegions::forget_own(std::uint32_t slot) {
    const std::lock_guard lock(mutex_);
    current_.erase(key(rank_, slot));
}

void MappedRegions::reclaim(const std::function<std::uint64_t(int, std::uint32_t)> &retired_generation) {
    std::vector<Mapping> gone;
    {
        const std::lock_guard lock(mutex_);
        gone.reserve(replaced_.size() + current_.size());  // what is taken out below must find its place
        gone.insert(gone.end(), replaced_.begin(), replaced_.end());
        replaced_.clear();
        for (auto it = current_.begin(); it != current_.end();) {
            const Mapping &mapping = it->second;
            if (mapping.post.generation <= retired_generation(mapping.owner, mapping.post.slot)) {
                gone.push_back(mapping);
                it = current_.erase(it);
            } else {
                ++it;
            }
        }
    }
    for (const Mapping &mapping : gone) unmap(mapping);
}

void MappedRegions::unmap(const Mapping &mapping) noexcept {
    if (mapping.owner == rank_) return;
    try {
        domain_.unimport_region(mapping.post, mapping.address);
    } catch (const std::exception &error) {
        log(LogLevel::warn, rank_, "a region of rank {} stays mapped: {}", mapping.owner, error.what());
    }
}

void *MappedRegions::address(int owner, std::uint32_t slot, std::uint64_t generation) const {
    const std::lock_guard lock(mutex_);
    const Mapping *const mapping = find(owner, slot, generation);
    return mapping == nullptr ? nullptr : mapping->address;
}

void *MappedRegions::address_for_copies(int owner, std::uint32_t slot, std::uint64_t generation) const {
    const std::lock_guard lock(mutex_);
    const Mapping *const mapping = find(owner, slot, generation);
    const bool by_kernels_alone = mapping != nullptr && owner != rank_ && mapping->post.kind == HandleKind::pool_fd;
    return mapping == nullptr || by_kernels_alone ? nullptr : mapping->address;
}

const MappedRegions::Mapping *MappedRegions::find(int owner, std::uint32_t slot, std::uint64_t generation) const {
    const auto found = current_.find(key(owner, slot));
    return found == current_.end() || found->second.post.generation != generation ? nullptr : &found->second;
}

}  // namespace baton::core
