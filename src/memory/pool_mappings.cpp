#include "memory/pool_mappings.hpp"

#include <tuple>
#include <utility>

#include "util/failure.hpp"

namespace baton::core {

void *PoolMappings::open(const RegionPost &piece, int fd, int device) {
    const std::lock_guard lock(mutex_);
    void *const pool = import_pool(fd, device);  // in any case: this user's device needs access
    Mappings::iterator mapping;
    bool is_new = false;
    try {
        // Its entry first, so that what the driver has imported is always noted.
        std::tie(mapping, is_new) = mappings_.try_emplace({piece.process, piece.base, piece.allocation});
    } catch (...) {
        destroy_if_empty(pool);
        throw;
    }
    if (is_new) {
        mapping->second = {piece.size, pool, nullptr, 0};
        ++pools_.at(pool).pieces;
        try {
            free_what_is_under(piece);
            mapping->second.address = driver_.import_pointer(pool, piece);
        } catch (...) {
            forget(mapping);
            throw;
        }
    } else if (mapping->second.address == nullptr) {
        destroy_if_empty(pool);
        fail(BATON_ERR_SYSTEM, "a peer has freed the memory at {:#x}, and other memory is in its place", piece.base);
    }
    ++mapping->second.users;
    return mapping->second.address;
}

void PoolMappings::close(const RegionPost &piece) {
    const std::lock_guard lock(mutex_);
    const auto found = mappings_.find({piece.process, piece.base, piece.allocation});
    if (found == mappings_.end() || --found->second.users > 0) return;
    try {
        free(found->second);
    } catch (...) {
        forget(found);
        throw;
    }
    forget(found);
}

/// Imports and counts.
void *PoolMappings::import_pool(int fd, int device) {
    void *const pool = driver_.import_pool(fd, device);
    try {
        ++pools_[pool].imports;
    } catch (...) {  // no memory for the entry, so it is the first import: later ones find one
        driver_.destroy_pool(pool);
        throw;
    }
    return pool;
}

void PoolMappings::free_what_is_under(const RegionPost &piece) {
    for (auto at = mappings_.lower_bound({piece.process, 0, 0});
         at != mappings_.end() && at->first.process == piece.process && at->first.base < piece.base + piece.size;
         ++at) {
        if (at->first.base + at->second.size > piece.base) free(at->second);
    }
}

/// Frees the piece, unless it has been freed. Its users close it later.
void PoolMappings::free(Mapping &mapping) {
    if (void *const address = std::exchange(mapping.address, nullptr); address != nullptr)
        driver_.free_pointer(address);
}

void PoolMappings::forget(Mappings::iterator mapping) {
    void *const pool = mapping->second.pool;
    mappings_.erase(mapping);
    --pools_.at(pool).pieces;
    destroy_if_empty(pool);
}

void PoolMappings::destroy_if_empty(void *pool) {
    const auto found = pools_.find(pool);
    if (found->second.pieces > 0) return;
    const int times = found->second.imports;
    pools_.erase(found);
    for (int i = 0; i < times; ++i) driver_.destroy_pool(pool);
}

}  // namespace baton::core
