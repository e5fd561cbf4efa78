#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace baton::core {

/// Where a HostEngine reads blocks of memory that is not mapped, and makes what goes there. A communicator's operations
/// come one after the other, and share it. Its pages take no memory until they are written.
class HostScratch {
public:
    /// For operations with `sources` of them at most.
    explicit HostScratch(int sources)
        : block_bytes_(std::clamp(in_cache / static_cast<std::size_t>(sources) / page * page, least, most)),
          sources_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(sources) * block_bytes_)),
          result_(std::make_unique_for_overwrite<std::byte[]>(block_bytes_ * sizeof(float))) {}

    /// Of the elements of one source that are combined at once: few enough for all of them to stay in the cache, many
    /// enough to make little of a system call for each source (docs/experiments.md).
    std::size_t block_bytes() const { return block_bytes_; }
    std::byte *source(std::size_t index) const { return sources_.get() + index * block_bytes_; }
    std::byte *result() const { return result_.get(); }

private:
    static constexpr std::size_t page = 4096, least = 32768, most = 262144;
    static constexpr std::size_t in_cache = 524288;  // half of a core's L2 (AMD EPYC 9004), or less

    const std::size_t block_bytes_;
    const std::unique_ptr<std::byte[]> sources_;
    const std::unique_ptr<std::byte[]> result_;  // a block of bytes is accumulated in floats
};

}  // namespace baton::core
