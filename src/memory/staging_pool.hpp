#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/region_registry.hpp"

namespace baton::core {

/// Baton's own memory for the length of a call, in pieces of chunks. Calls run one after another on a communicator, so
/// chunks stay, and the next call has all of them again. A new chunk is what is asked for, rounded up by a quarter at
/// most and at least 64 KiB; or, if more, as large as all before it, up to 64 MiB or the next power of two. So many
/// small pieces take few chunks, and sizes that grow little by little keep about twice the largest. If there is no
/// memory for that, it is what is asked for. Not thread-safe.
class StagingPool {
public:
    enum class Audience {
        peers,  // they have each chunk mapped, as a region
        own     // this rank alone
    };
    StagingPool(RegionRegistry &registry, Audience audience) : registry_(registry), audience_(audience) {}
    StagingPool(const StagingPool &) = delete;
    StagingPool &operator=(const StagingPool &) = delete;

    struct Piece {
        std::byte *pointer = nullptr;  // aligned to 256 bytes
        PublishedRegion published;     // of its chunk, for peers
        std::uint64_t offset = 0;      // in its chunk
    };
    /// Returns memory to use until give_back_all(). Throws as RegionRegistry does where there is none.
    Piece take(std::uint64_t bytes);
    void give_back_all();

private:
    struct Chunk {
        RegionRegistry::Allocation allocation;
        std::uint64_t bytes = 0;
        std::uint64_t used = 0;
    };
    Chunk &chunk_for(std::uint64_t bytes);
    Chunk allocate(std::uint64_t bytes);
    Chunk &add_chunk(std::uint64_t bytes);

    RegionRegistry &registry_;
    const Audience audience_;
    std::vector<Chunk> chunks_;  // freed with the registry
    std::uint64_t all_bytes_ = 0;
};

}  // namespace baton::core
