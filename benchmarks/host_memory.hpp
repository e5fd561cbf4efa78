#pragma once

#include <cstddef>
#include <cstdlib>

namespace baton::bench {

/// Page by page the kernel copies between processes at a third of its rate where source and destination lie badly to
/// each other within their pages, which is up to malloc. So all sides get whole pages, as in OMB. Freed by std::free;
/// null if there is no memory.
inline void *allocate_pages(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    return std::aligned_alloc(page, (bytes / page + 1) * page);
}

}  // namespace baton::bench
