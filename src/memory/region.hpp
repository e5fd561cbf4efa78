#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::core {

/// Regions of the caller's memory that one rank can have at a time on one communicator.
inline constexpr int caller_slots = 1024;
/// Regions of what Baton allocates for peers: arena, windows, staging. These slots are apart from the caller's, because
/// memory that finds no slot there goes through staging, on this rank alone, and staging has to find one here.
inline constexpr int own_slots = 1024;
/// Slots count from 0, the caller's first. A slot number fits 16 bits of an arrival word.
inline constexpr int region_slots = caller_slots + own_slots;

/// Which of the slots a region may have.
enum class RegionSlots {
    callers,
    own
};

/// How the peers of an owner reach a region.
enum class HandleKind : std::uint32_t {
    none = 0,      // cannot be exported
    same_address,  // ranks are threads of one process: the owner's address is valid
    cuda_ipc,      // cudaIpcMemHandle_t in `opaque` (cudaMalloc memory)
    vmm_fd,        // file descriptor of a cuMemCreate allocation, sent beside the post
    pool_fd,       // file descriptor of a CUDA memory pool sent beside the post, cudaMemPoolPtrExportData in `opaque`
    memfd,         // file descriptor of host memory, sent beside the post
};

/// Which copies into a peer's region the host enqueues.
enum class Copies {
    where_possible,
    where_fast  // not where they would be slow beside other copies
};

/// What an owner tells its peers about a region. Plain data: lies on the board.
struct RegionPost {
    HandleKind kind = HandleKind::none;
    std::uint32_t slot = 0;
    std::uint64_t generation = 0;  // never 0 for a live region; a slot's generations grow by one
    std::uint64_t base = 0;        // in the owner's address space
    std::uint64_t size = 0;        // bytes from base: what peers map and may touch
    std::uint64_t process = 0;     // cuda_ipc, pool_fd: the owner's process_number()
    std::uint64_t allocation = 0;  // pool_fd: its buffer id, which differs for each allocation in the same place
    unsigned char opaque[64] = {};
};

/// What the owner and arrivals name a region by.
struct PublishedRegion {
    std::uint32_t slot = 0;
    std::uint64_t generation = 0;
    bool operator==(const PublishedRegion &) const = default;
};

/// An entry of the table that maps (owner, slot) to an address of this process. It lies in host memory that kernels
/// reach, because the service thread must not need the GPU to write it (sync/region_lookup.hpp). A peer's entry is
/// written by the service thread before it acknowledges the post, this rank's own by publish() before it posts. Entries
/// are read only after an arrival that names the slot, which the owner sends only after all acknowledgements. So no
/// read can race with the write.
struct RegionEntry {
    std::uint64_t address = 0;
    std::uint64_t generation = 0;
};

}  // namespace baton::core
