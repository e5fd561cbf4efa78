#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace baton::core {

/// Buffers of a HostEngine for memory that is not mapped: what it has read from there, and results that go there. A
/// communicator's operations run one after the other and share them. Pages take no memory until they are written.
class HostScratch {
public:
    /// For operations with at most `sources` sources.
    explicit HostScratch(int sources)
        : block_bytes_(std::clamp(in_cache / static_cast<std::size_t>(sources) / page * page, least, most)),
          sources_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(sources) * block_bytes_)),
          result_(std::make_unique_for_overwrite<std::byte[]>(block_bytes_ * sizeof(float))) {}

    /// Bytes of one source that are combined at once: few enough for those of all sources to stay in the cache, many
    /// enough to make a system call for each source cheap (docs/experiments.md).
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
