#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>

#include "memory/region.hpp"

namespace baton::core {

/// The pools and pieces of cudaMallocAsync's kind of memory that this process has imported, shared by its
/// communicators. Measured with CUDA 13.0:
/// - Importing a pool that is here already gives the same handle and counts; it has to be destroyed as often, which is
///   refused while one of its pointers is here. A destroyed pool's successor is another one.
/// - Importing a pointer that is here already gives the same address and does not count: the first free ends it for
///   everybody, as far as calls of the driver are concerned, which copies are; kernels still reach the memory.
/// - What has taken a freed piece's place is seen at the old one's address, but copies reach no further than that did.
/// - An import makes the driver forget what the pool has given back. A thread that has copied from or to there, and is
///   not the one that imports, crashes in a later copy, since it looks at what it has remembered of its last one.
/// - None of these calls waits for running kernels.
/// A piece is therefore imported once for all its users, and freed by the last of them, or when another one is imported
/// over it: then its owner has freed it. A pool is destroyed when the last user of any of its pieces has closed it:
/// until then kernels that were given a freed piece may be under way. Only kernels may be given the addresses.
/// Thread-safe.
///
/// A piece is what its owner has posted: process, base and size say where it lies, and `allocation` tells it from those
/// before and after it in the same place.
class PoolMappings {
public:
    /// The calls of the driver. They throw Failure, and are made with the lock held.
    class Driver {
    public:
        virtual ~Driver() = default;
        /// The pool that the descriptor stands for, with access for `device`.
        virtual void *import_pool(int fd, int device) = 0;
        virtual void *import_pointer(void *pool, const RegionPost &piece) = 0;
        virtual void free_pointer(void *address) = 0;
        virtual void destroy_pool(void *pool) = 0;
    };
    /// The driver must outlive the mappings.
    explicit PoolMappings(Driver &driver) : driver_(driver) {}

    /// The piece's address in this process, for kernels of `device`. `fd`: its pool's descriptor. Where it throws,
    /// nothing is imported that was not before. Throws BATON_ERR_SYSTEM for a piece that another one has been imported
    /// over.
    void *open(const RegionPost &piece, int fd, int device);

    /// For each open(), once.
    void close(const RegionPost &piece);

private:
    struct Key {
        std::uint64_t process, base, allocation;
        auto operator<=>(const Key &) const = default;
    };
    struct Mapping {
        std::uint64_t size = 0;
        void *pool = nullptr;
        void *address = nullptr;  // null: another piece has been imported over this one, which has users still
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
    Mappings mappings_;  // no two with an address overlap: memory has one owner at a time
    std::map<void *, Pool> pools_;
};

}  // namespace baton::core
