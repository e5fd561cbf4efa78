#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace baton::core {

/// The pools and pointers of cudaMallocAsync's kind of memory that this process has imported, shared by its
/// communicators. Measured with CUDA 13.0:
/// - Importing a pool that is here already gives the same handle and counts; it has to be destroyed as often, which is
///   refused while one of its pointers is here. A destroyed pool's successor is another one, at other addresses.
/// - Importing a pointer that is here already gives the same address and does not count: the first free ends it for
///   everybody. Kernels still reach the memory then; copies fail with "invalid argument".
/// - Memory that has taken a freed piece's place in its pool is imported at the same address. If it is longer, copies
///   reach only as far as what was imported first, until that is freed and the pointer imported again.
/// - None of these calls waits for running kernels.
/// A pointer is therefore freed by its last user, and a pool destroyed with its last pointer. Thread-safe.
class PoolMappings {
public:
    /// All calls of the driver throw Failure, and are made with the lock held.
    struct Undo {
        std::function<void(void *address)> free_pointer;
        std::function<void(void *pool)> destroy_pool;
    };
    explicit PoolMappings(Undo undo) : undo_(std::move(undo)) {}

    /// The address of `size` bytes of the pool that `import_pool` imports.
    void *open(std::uint64_t size, const std::function<void *()> &import_pool,
               const std::function<void *(void *pool)> &import_pointer);

    /// For each open(), once.
    void close(void *address);

private:
    struct Pool {
        int imports = 0;
        int pointers = 0;
    };
    struct Pointer {
        void *pool = nullptr;
        std::uint64_t size = 0;  // as far as copies reach
        int users = 0;
    };
    void destroy(void *pool);

    const Undo undo_;
    std::mutex mutex_;
    std::map<void *, Pool> pools_;
    std::map<void *, Pointer> pointers_;
};

}  // namespace baton::core
