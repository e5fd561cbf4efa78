#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>

#include "memory/region.hpp"

namespace baton::core {

/// Pools of cudaMallocAsync, and pieces of them, that this process has imported; shared by its communicators. Measured
/// with CUDA 13.0:
/// - Importing a pool that is here already gives the same handle and counts: it has to be destroyed as often. That is
///   refused while one of its pointers is here. The handle of a destroyed pool may come back for another one.
/// - Importing a pointer that is here already gives the same address and does not count. The first free ends it for
///   everybody as far as calls of the driver go, and copies are such calls. Kernels still reach the memory.
/// - Memory that has taken a freed piece's place is seen at the old piece's address, but copies reach no further than
///   that piece did.
/// - An import makes the driver forget what the pool has given back. If a thread other than the importing one has
///   copied from or to there, it crashes in a later copy, since it looks at what it has remembered of its last one.
/// - None of these calls waits for running kernels.
/// So a piece is imported once for all its users. It is freed by the last of them, or when another piece is imported
/// over it, because then its owner has freed it. A pool is destroyed when the last user of any of its pieces has closed
/// it: until then kernels that were given a freed piece may be running. Only kernels may be given the addresses.
/// Thread-safe.
///
/// A piece is what its owner has posted. Process, base and size say where it lies; `allocation` tells it from earlier
/// and later ones in the same place.
class PoolMappings {
public:
    /// The calls of the driver. They throw Failure, and are made with the lock held.
    class Driver {
    public:
        virtual ~Driver() = default;
        /// Returns the pool that the descriptor stands for, with access for `device`.
        virtual void *import_pool(int fd, int device) = 0;
        virtual void *import_pointer(void *pool, const RegionPost &piece) = 0;
        virtual void free_pointer(void *address) = 0;
        virtual void destroy_pool(void *pool) = 0;
    };
    /// The driver must outlive the mappings.
    explicit PoolMappings(Driver &driver) : driver_(driver) {}

    /// Returns the piece's address in this process, for kernels of `device`. `fd` is the descriptor of its pool, and
    /// stays the caller's. If it throws, nothing is imported that was not before. Throws BATON_ERR_SYSTEM for a piece
    /// over which another one has been imported.
    void *open(const RegionPost &piece, int fd, int device);

    /// To be called once for each open().
    void close(const RegionPost &piece);

private:
    struct Key {
        std::uint64_t process, base, allocation;
        auto operator<=>(const Key &) const = default;
    };
    struct Mapping {
        std::uint64_t size = 0;
        void *pool = nullptr;
        void *address = nullptr;  // null: another piece has been imported over this one, which still has users
        int users = 0;
    };
    struct Pool {
        int imports = 0;
        int pieces = 0;  // mappings, whether freed or not
    };
    using Mappings = std::map<Key, Mapping>;

    void *import_pool(int fd, int device);
    void free_what_is_under(const RegionPost &piece);
    void free(Mapping &mapping);
    void forget(Mappings::iterator mapping);
    void destroy_if_empty(void *pool);

    Driver &driver_;
    std::mutex mutex_;
    Mappings mappings_;  // no two that have an address overlap: memory has one owner at a time
    std::map<void *, Pool> pools_;
};

}  // namespace baton::core
