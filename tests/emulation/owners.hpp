#pragma once

#include <cstddef>

namespace baton::emulation {

/// Memory of a rank, as long as this object exists. None comes or goes while kernels run.
class Owned {
public:
    Owned(int rank, const std::byte *memory, std::size_t bytes);
    ~Owned();
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;

private:
    const std::byte *const memory_;
};

/// The rank that owns the memory at `at`, or `nobody` (block.hpp).
int owner_of(const void *at);

}  // namespace baton::emulation
