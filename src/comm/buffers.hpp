#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/request.hpp"
#include "memory/region_registry.hpp"
#include "memory/staging_pool.hpp"
#include "sync/arrival.hpp"

namespace baton::core {

/// Returns count * size of type * blocks. Throws BATON_ERR_ARGUMENT, calling the count `name`, if it exceeds 63 bits.
std::uint64_t bytes_of(std::uint64_t count, baton_type type, int blocks, const char *name = "count");

/// A communicator's view of its user's buffers: checks them, names them to peers, and stages those that peers cannot
/// reach.
class Buffers {
public:
    Buffers(MemoryDomain &domain, RegionRegistry &registry, int device)
        : domain_(domain),
          registry_(registry),
          device_(device),
          for_peers_(registry, StagingPool::Audience::peers),
          for_this_rank_(registry, StagingPool::Audience::own) {}

    /// Throws BATON_ERR_ARGUMENT unless [pointer, pointer + bytes) may be used on this communicator. `name` is the
    /// argument's. For zero bytes any pointer will do, and the result is empty.
    PointerInfo check(const void *pointer, std::uint64_t bytes, const char *name) const;

    struct Reached {
        BufferRef ref;
        std::byte *pointer = nullptr;  // where the operation works: the buffer, or staging
    };
    /// The buffers of one call; the destructor gives staging back. There is one at a time, since the communicator's
    /// calls run one after another.
    class Use {
    public:
        explicit Use(Buffers &buffers) : buffers_(buffers) {}
        ~Use() {
            buffers_.for_peers_.give_back_all();
            buffers_.for_this_rank_.give_back_all();
        }
        Use(const Use &) = delete;
        Use &operator=(const Use &) = delete;

        /// Makes a checked buffer reachable for peers. `checked`: what check() returned; if its kind is invalid, the
        /// pointer is classified here. `stages`: a buffer that has no name for peers goes through Baton's memory.
        Reached reach(const void *pointer, const PointerInfo &checked, std::uint64_t bytes, bool stages = true);
        /// Returns memory of the communicator's kind, for this rank alone.
        std::byte *scratch(std::uint64_t bytes) { return buffers_.for_this_rank_.take(bytes).pointer; }

    private:
        Buffers &buffers_;
    };

    /// Names a checked buffer by its region, if all ranks have mapped that already; no region otherwise.
    BufferRef mapped(const void *pointer, const PointerInfo &checked, std::uint64_t bytes) const;
    /// Returns the name that a checked buffer has for peers without publishing anything, or none.
    BufferRef at_hand(const void *pointer, const PointerInfo &checked, std::uint64_t bytes) const;

    /// For explain: "zero copy (region 3, generation 1)", "staged through Baton's memory: reason".
    std::string describe(const void *pointer, std::uint64_t bytes, bool stages = true) const;

private:
    /// Whether this is host memory that never has a region: peers reach it by its address (a single copy), if at all.
    bool goes_by_address(const PointerInfo &info) const { return !domain_.on_gpu() && info.size == 0; }
    /// Returns the name for peers of a buffer that has been looked up; none if they could not map it and it has no
    /// address for them.
    BufferRef name_of(const RegionRegistry::Location &location, const void *pointer) const;
    void check_end(const PointerInfo &info, const void *pointer, std::uint64_t bytes, const char *name) const;

    MemoryDomain &domain_;
    RegionRegistry &registry_;
    const int device_;
    StagingPool for_peers_;
    StagingPool for_this_rank_;
};

}  // namespace baton::core
