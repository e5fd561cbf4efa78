#pragma once

#include <cstddef>
#include <memory>

namespace baton::core {

/// Where a HostEngine reads blocks of memory that is not mapped, and makes what goes there. A communicator's operations
/// come one after the other, and share it. Its pages take no memory until they are written.
class HostScratch {
public:
    /// Of the elements of one source that are combined at once, so that all of them stay in the cache.
    static constexpr std::size_t block_bytes = 32768;

    /// For operations with `sources` of them at most.
    explicit HostScratch(int sources)
        : sources_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(sources) * block_bytes)),
          result_(std::make_unique_for_overwrite<std::byte[]>(block_bytes * sizeof(float))) {}

    std::byte *source(std::size_t index) const { return sources_.get() + index * block_bytes; }
    std::byte *result() const { return result_.get(); }

private:
    const std::unique_ptr<std::byte[]> sources_;
    const std::unique_ptr<std::byte[]> result_;  // a block of bytes is accumulated in floats
};

}  // namespace baton::core
