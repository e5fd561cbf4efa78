#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "memory/pointer_info.hpp"
#include "memory/region.hpp"
#include "util/failure.hpp"
#include "util/unique_fd.hpp"

namespace baton::core {

/// A region as its owner exports it: the post that peers read, and the descriptor to send beside it, if it needs one.
/// For kind `none`, `reason` says why in words that explain prints, and `code` says whether memory of this kind never
/// can be exported, or the system has refused.
struct Export {
    RegionPost post;
    UniqueFd fd;
    std::string reason;
    baton_result code = BATON_ERR_UNSUPPORTED;
};

/// Memory that peers cannot map, for whatever reason. Calls on it use a copy, or on the host its address (BufferRef).
class NotMapped : public Failure {
public:
    using Failure::Failure;
    explicit NotMapped(const Failure &failure) noexcept : Failure(failure) {}
};

/// A kind of memory: the host's, or that of one CUDA device. All calls are thread-safe, because the caller's threads
/// and the service thread make them. The CUDA domain makes its device current for the length of each call. It relaxes
/// stream-capture checks in all but classify(), which makes no call that they forbid.
class MemoryDomain {
public:
    virtual ~MemoryDomain() = default;
    virtual bool on_gpu() const = 0;

    virtual PointerInfo classify(const void *pointer) const = 0;

    /// Returns memory that is aligned to 256 bytes, zeroed and exportable. Throws BATON_ERR_MEMORY.
    virtual void *allocate(std::size_t bytes) = 0;
    /// The same for buffers of this rank, exportable only where peers reach such buffers. Must not wait for running
    /// kernels.
    virtual void *allocate_own(std::size_t bytes) { return allocate(bytes); }
    virtual void release(void *pointer) = 0;  // of either

    /// Exports the whole allocation that `info` describes. Does not throw for memory that cannot be exported.
    virtual Export export_region(const PointerInfo &info) = 0;

    /// Maps a peer's region and returns its address in this process. Throws with the reason. Must not wait for running
    /// kernels, except where GPUs do not reach each other, of which baton.h warns.
    virtual void *import_region(int owner, const RegionPost &post, UniqueFd fd) = 0;

    /// Undoes import_region. May wait for this device's running kernels: only with no operation in flight.
    virtual void unimport_region(const RegionPost &post, void *address) = 0;

    /// Gives back the pages of an import whose owner has given the region up, also while operations are in flight. The
    /// address stays mapped until unimport_region(), and whoever still looks there sees zeros. Others' mappings, and
    /// the memory itself where it lives on, stay as they are. On failure returns false, and the import is as it was.
    virtual bool can_give_back_pages() const { return false; }
    virtual bool give_back_pages(const RegionPost & /*post*/, void * /*address*/) { return false; } /* never throws */

    /// Makes classify() know this address, which import_region() gave, as memory from now on: the user is given it
    /// (windows). Other imports are not the user's. A pointer into one points to memory that the user has freed, in
    /// whose place it was mapped, so classify() says `invalid`, where the domain can tell.
    virtual void hand_out(const void * /*imported*/) {}
    /// Ends hand_out(): the window is gone, though its memory may stay mapped. Called before it is unmapped.
    virtual void take_back(const void * /*imported*/) {}

    /// Zeroed host memory that this domain's kernels can read at the same address (pinned, for a GPU), and its release.
    virtual void *allocate_shared_with_kernels(std::size_t bytes) = 0;
    virtual void release_shared_with_kernels(void *memory) = 0;
};

/// Returns the bytes from `pointer` on that are mapped: to the end of its allocation, and on through chunks of the same
/// device that lie side by side with it (PyTorch's expandable segments). May stop looking once it is past `wanted`.
std::uint64_t usable_bytes(const MemoryDomain &domain, const PointerInfo &info, const void *pointer,
                           std::uint64_t wanted);

/// `ranks`: how many share its memory. `oversubscribed`: they do not have a processor each.
std::unique_ptr<MemoryDomain> make_host_domain(bool same_process, int ranks = 1, bool oversubscribed = false);

/// What moves data into and out of peers' regions.
enum class Movers {
    kernels_and_copies,
    copies_alone  // then memory that only kernels may be given (PoolMappings) is not exported
};

/// For the current device. Throws BATON_ERR_UNSUPPORTED in a build without CUDA.
std::unique_ptr<MemoryDomain> make_cuda_domain(Movers movers = Movers::kernels_and_copies);

/// Host memory that all ranks and their GPUs reach over PCIe, for the current device. For GPUs that do not reach each
/// other's memory; `why` says so in words. Device memory may be used on it, but is not exported. Throws as
/// make_cuda_domain(). Its allocate() and import_region() throw BATON_ERR_UNSUPPORTED where the GPU would see
/// registered host memory at other addresses than the host.
std::unique_ptr<MemoryDomain> make_mapped_domain(std::string why);

}  // namespace baton::core
