#include "memory/pool_mappings.hpp"

#include <iterator>

namespace baton::core {

void *PoolMappings::open(const RegionPost &piece, int fd, int device) {
    const std::lock_guard lock(mutex_);
    const Place place{piece.process, piece.base};
    void *const pool = import_pool(fd, device);  // in any case, for this user's device to have access
    if (const auto here = mappings_.find(place);
        here != mappings_.end() && here->second.allocation == piece.allocation) {
        ++here->second.users;
        return here->second.address;
    }
    // Counted before what lies under it goes: a pool is not destroyed in between, as kernels that the freed piece was
    // given to may be under way.
    ++pools_.at(pool).pieces;
    Mappings::iterator mapping = mappings_.end();
    try {
        free_what_is_under(piece);
        // Its entry first: what the driver has imported is always written down.
        mapping = mappings_.try_emplace(place).first;
        mapping->second = {piece.size, piece.allocation, pool, driver_.import_pointer(pool, piece), 1};
    } catch (...) {
        if (mapping != mappings_.end()) mappings_.erase(mapping);
        --pools_.at(pool).pieces;
        destroy_if_empty(pool);
        throw;
    }
    return mapping->second.address;
}

void PoolMappings::close(const RegionPost &piece) {
    const std::lock_guard lock(mutex_);
    const auto found = mappings_.find({piece.process, piece.base});
    // Of another allocation: this one has been freed when that was imported.
    if (found == mappings_.end() || found->second.allocation != piece.allocation) return;
    if (--found->second.users == 0) free(found);
}

/// Imports and counts.
void *PoolMappings::import_pool(int fd, int device) {
    void *const pool = driver_.import_pool(fd, device);
    try {
        ++pools_[pool].imports;
    } catch (...) {  // no memory to count it: it is the first, as others' entry is there
        driver_.destroy_pool(pool);
        throw;
    }
    return pool;
}

void PoolMappings::free_what_is_under(const RegionPost &piece) {
    auto next = mappings_.upper_bound({piece.process, piece.base});
    if (next != mappings_.begin()) {
        const auto before = std::prev(next);
        const auto &[process, base] = before->first;
        if (process == piece.process && base + before->second.size > piece.base) free(before);
    }
    while (next != mappings_.end() && next->first < Place{piece.process, piece.base + piece.size}) free(next++);
}

void PoolMappings::free(Mappings::iterator mapping) {
    const Mapping gone = mapping->second;
    mappings_.erase(mapping);
    --pools_.at(gone.pool).pieces;
    driver_.free_pointer(gone.address);
    destroy_if_empty(gone.pool);
}

void PoolMappings::destroy_if_empty(void *pool) {
    const auto found = pools_.find(pool);
    if (found->second.pieces > 0) return;
    const int times = found->second.imports;
    pools_.erase(found);
    for (int i = 0; i < times; ++i) driver_.destroy_pool(pool);
}

}  // namespace baton::core
