#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace baton::core {

/// A piece of a pool, as its owner knows it: the process (process_number()), the place, and the number that tells the
/// allocation from those before and after it in the same place.
struct PoolPiece {
    std::uint64_t process = 0;
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint64_t allocation = 0;
};

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
/// over it: then its owner has freed it. A pool is destroyed with its last piece. Only kernels may be given the
/// addresses. Thread-safe.
class PoolMappings {
public:
    /// All calls of the driver throw Failure, and are made with the lock held.
    struct Undo {
        std::function<void(void *address)> free_pointer;
        std::function<void(void *pool)> destroy_pool;
    };
    explicit PoolMappings(Undo undo) : undo_(std::move(undo)) {}

    /// The piece's address in this process.
    void *open(const PoolPiece &piece, const std::function<void *()> &import_pool,
               const std::function<void *(void *pool)> &import_pointer);

    /// For each open(), once.
    void close(const PoolPiece &piece);

private:
    struct Mapping {
        PoolPiece piece;
        void *pool = nullptr;
        void *address = nullptr;
        int users = 0;
    };
    struct Pool {
        int imports = 0;
        int pieces = 0;
    };
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // process, base
    using Mappings = std::map<Place, Mapping>;

    void free_what_is_under(const PoolPiece &piece);
    void free(Mappings::iterator mapping);
    void destroy_if_empty(void *pool);

    const Undo undo_;
    std::mutex mutex_;
    Mappings mappings_;  // no two overlap: memory has one owner at a time
    std::map<void *, Pool> pools_;
};

}  // namespace baton::core
