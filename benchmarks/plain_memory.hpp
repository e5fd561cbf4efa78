#pragma once

#include <cstddef>

#include "devices.hpp"

namespace baton::bench {

/// Memory from cudaMalloc or malloc, with one owner. Zero bytes are allocated as one, so that data() is never null.
class PlainMemory {
public:
    /// Throws the Error "no memory for WHOSE of 4096 bytes" if there is none on the host.
    PlainMemory(MemorySpace memory_space, std::size_t bytes, const char *whose);
    /// Does not free while an exception unwinds: the process is about to end, and freeing would wait for kernels that
    /// wait for other ranks.
    ~PlainMemory();
    PlainMemory(const PlainMemory &) = delete;
    PlainMemory &operator=(const PlainMemory &) = delete;

    std::byte *data() const { return data_; }

private:
    const MemorySpace memory_space_;
    std::byte *data_;
};

}  // namespace baton::bench
