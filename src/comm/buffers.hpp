#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/request.hpp"
#include "memory/region_registry.hpp"
#include "sync/arrival.hpp"

namespace baton::core {

/// count * size of type, times `blocks`; throws BATON_ERR_ARGUMENT, calling the count `name`, where it does not fit 63
/// bits.
std::uint64_t bytes_of(std::uint64_t count, baton_type type, int blocks, const char *name = "count");

/// A communicator's view of its user's buffers: checks them, names them to peers, and stages those that peers cannot
/// reach.
class Buffers {
public:
    Buffers(MemoryDomain &domain, RegionRegistry &registry, int device)
        : domain_(domain), registry_(registry), device_(device) {}

    /// Throws BATON_ERR_ARGUMENT unless [pointer, pointer + bytes) may be used on this communicator. `name` is the
    /// argument's. Zero bytes: any pointer will do, and the info is empty.
    PointerInfo check(const void *pointer, std::uint64_t bytes, const char *name) const;

    /// Staging that one call holds; given back at its end, since the communicator's calls run one after another.
    class Use {
    public:
        explicit Use(Buffers &buffers) : buffers_(buffers) {}
        ~Use();
        Use(const Use &) = delete;
        Use &operator=(const Use &) = delete;

    private:
        friend class Buffers;
        Buffers &buffers_;
        std::vector<std::size_t> held_;
    };

    struct Reached {
        BufferRef ref;
        std::byte *pointer = nullptr;  // where the operation works: the buffer, or staging
        bool staged = false;
    };
    /// Makes a checked buffer reachable for peers. `checked`: what check() has found of it, or invalid to look. `raw`
    /// allows host memory to be named by its address.
    Reached reach(const void *pointer, const PointerInfo &checked, std::uint64_t bytes, bool raw, Use &use);

    /// Where a checked buffer lies in memory that all ranks have mapped already; no region if it does not.
    BufferRef mapped(const void *pointer, const PointerInfo &checked, std::uint64_t bytes) const;

    /// Memory of the communicator's kind for the length of a call.
    std::byte *scratch(std::uint64_t bytes, Use &use);

    /// "zero copy (registered)", "staged: reason", for explain.
    std::string describe(const void *pointer, std::uint64_t bytes, bool raw) const;

private:
    struct Staging {
        RegionRegistry::Allocation allocation;
        std::uint64_t bytes = 0;
        bool for_peers = false;  // they reach it
        bool in_use = false;
    };
    Staging &acquire(std::uint64_t bytes, bool for_peers, Use &use);
    void check_end(const PointerInfo &info, const void *pointer, std::uint64_t bytes, const char *name) const;

    MemoryDomain &domain_;
    RegionRegistry &registry_;
    const int device_;
    std::vector<Staging> staging_;  // grows to the most that a call has needed; freed with the communicator
};

}  // namespace baton::core
