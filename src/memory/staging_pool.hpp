#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/region_registry.hpp"

namespace baton::core {

/// Memory of Baton's own for the length of a call, in pieces of chunks. Calls run one after another on a communicator,
/// so chunks stay, and the next call has all of them again. A new one is what is asked for, rounded up by a quarter at
/// most, so that sizes that grow little by little do not take one each; or, up to 64 MiB, as large as all before it, so
/// that many small pieces take few. Not thread-safe.
class StagingPool {
public:
    enum class For {
        peers,  // who have it mapped, each chunk a region
        own     // this rank
    };
    StagingPool(RegionRegistry &registry, For who) : registry_(registry), for_(who) {}
    StagingPool(const StagingPool &) = delete;
    StagingPool &operator=(const StagingPool &) = delete;

    struct Piece {
        std::byte *pointer = nullptr;     // aligned to 256 bytes
        PeerMemory::Published published;  // of its chunk, for peers
        std::uint64_t offset = 0;         // in its chunk
    };
    /// Until give_back_all(). Throws as RegionRegistry does where there is no memory.
    Piece take(std::uint64_t bytes);
    void give_back_all();

private:
    struct Chunk {
        RegionRegistry::Allocation allocation;
        std::uint64_t bytes = 0;
        std::uint64_t used = 0;
    };
    Chunk &chunk_with(std::uint64_t bytes);
    Chunk allocate(std::uint64_t bytes);
    Chunk &add_chunk(std::uint64_t bytes);

    RegionRegistry &registry_;
    const For for_;
    std::vector<Chunk> chunks_;  // freed with the registry
    std::uint64_t all_bytes_ = 0;
};

}  // namespace baton::core
