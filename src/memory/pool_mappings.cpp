#include "memory/pool_mappings.hpp"

#include "util/failure.hpp"

namespace baton::core {

void *PoolMappings::open(std::uint64_t size, const std::function<void *()> &import_pool,
                         const std::function<void *(void *)> &import_pointer) {
    const std::lock_guard lock(mutex_);
    void *const pool = import_pool();
    Pool &counts = pools_[pool];
    ++counts.imports;
    try {
        void *const address = import_pointer(pool);
        Pointer &pointer = pointers_[address];
        if (pointer.users == 0) {
            ++counts.pointers;
            pointer = {pool, size, 0};
        } else if (pointer.size < size) {
            pointer.size = 0;  // also if what follows fails
            undo_.free_pointer(address);
            if (import_pointer(pool) != address) {
                fail(BATON_ERR_INTERNAL, "memory of a pool, imported again, is not where it was");
            }
            pointer.size = size;
        }
        ++pointer.users;
        return address;
    } catch (...) {
        if (counts.pointers == 0) destroy(pool);
        throw;
    }
}

void PoolMappings::close(void *address) {
    const std::lock_guard lock(mutex_);
    const auto found = pointers_.find(address);
    if (found == pointers_.end() || --found->second.users > 0) return;
    void *const pool = found->second.pool;
    pointers_.erase(found);
    const bool last = --pools_.at(pool).pointers == 0;
    undo_.free_pointer(address);
    if (last) destroy(pool);
}

void PoolMappings::destroy(void *pool) {
    const auto found = pools_.find(pool);
    const int times = found->second.imports;
    pools_.erase(found);
    for (int i = 0; i < times; ++i) undo_.destroy_pool(pool);
}

}  // namespace baton::core
