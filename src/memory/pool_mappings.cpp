#include "memory/pool_mappings.hpp"

#include <iterator>

namespace baton::core {

void *PoolMappings::open(const PoolPiece &piece, const std::function<void *()> &import_pool,
                         const std::function<void *(void *)> &import_pointer) {
    const std::lock_guard lock(mutex_);
    const Place place{piece.process, piece.base};
    if (const auto here = mappings_.find(place);
        here != mappings_.end() && here->second.piece.allocation == piece.allocation) {
        ++pools_[import_pool()].imports;  // for this user's device to have access
        ++here->second.users;
        return here->second.address;
    }
    free_what_is_under(piece);
    void *const pool = import_pool();
    ++pools_[pool].imports;
    try {
        void *const address = import_pointer(pool);
        mappings_[place] = {piece, pool, address, 1};
        ++pools_.at(pool).pieces;
        return address;
    } catch (...) {
        destroy_if_empty(pool);
        throw;
    }
}

void PoolMappings::close(const PoolPiece &piece) {
    const std::lock_guard lock(mutex_);
    const auto found = mappings_.find({piece.process, piece.base});
    // Of another allocation: this one has been freed when that was imported.
    if (found == mappings_.end() || found->second.piece.allocation != piece.allocation) return;
    if (--found->second.users == 0) free(found);
}

void PoolMappings::free_what_is_under(const PoolPiece &piece) {
    auto next = mappings_.upper_bound({piece.process, piece.base});
    if (next != mappings_.begin()) {
        const auto before = std::prev(next);
        const PoolPiece &left = before->second.piece;
        if (left.process == piece.process && left.base + left.size > piece.base) free(before);
    }
    while (next != mappings_.end() && next->first < Place{piece.process, piece.base + piece.size}) free(next++);
}

void PoolMappings::free(Mappings::iterator mapping) {
    const Mapping gone = mapping->second;
    mappings_.erase(mapping);
    --pools_.at(gone.pool).pieces;
    undo_.free_pointer(gone.address);
    destroy_if_empty(gone.pool);
}

void PoolMappings::destroy_if_empty(void *pool) {
    const auto found = pools_.find(pool);
    if (found->second.pieces > 0) return;
    const int times = found->second.imports;
    pools_.erase(found);
    for (int i = 0; i < times; ++i) undo_.destroy_pool(pool);
}

}  // namespace baton::core
