#include "plain_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "gpu.hpp"

namespace baton::bench {

namespace {

/// Whole pages for all sides, as in OMB. The kernel copies between processes page by page, at a third of its rate if
/// source and destination lie badly to each other within their pages; malloc would leave that to chance.
void *allocate_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    return std::aligned_alloc(page, (bytes / page + 1) * page);
}

}  // namespace

PlainMemory::PlainMemory(MemorySpace memory_space, std::size_t bytes, const char *whose) : memory_space_(memory_space) {
    bytes = std::max<std::size_t>(bytes, 1);
    data_ = static_cast<std::byte *>(memory_space == MemorySpace::gpu ? gpu::allocate(bytes) : allocate_pages(bytes));
    if (data_ == nullptr) {
        throw Error(fmt::format("no memory for {} of {} bytes", whose, bytes));
    }
}

PlainMemory::~PlainMemory() {
    if (std::uncaught_exceptions() > 0) {
        return;
    }
    if (memory_space_ == MemorySpace::gpu) {
        gpu::release(data_);
    } else {
        std::free(data_);
    }
}

}  // namespace baton::bench
