#pragma once

#include <cstdint>

namespace baton::core {

/// What the system knows about a pointer: everything that a call needs to check it and to find its region.
struct PointerInfo {
    enum class Kind {
        invalid,
        host,
        device,
        managed,
        pinned  // host memory of make_mapped_domain(), which GPUs reach at the same address
    };
    Kind kind = Kind::invalid;    // invalid: null, freed or never mapped as far as the system can tell
    int device = -1;              // CUDA ordinal, for device and managed memory
    std::uint64_t base = 0;       // start of the allocation; 0 where unknown (host memory not from baton_malloc)
    std::uint64_t size = 0;       // of the allocation; 0 where unknown
    std::uint64_t buffer_id = 0;  // CU_POINTER_ATTRIBUTE_BUFFER_ID, or the domain's own number: changes when the same
                                  // address is allocated, or a VMM chunk mapped, again (driver 580: every time)
    bool legacy_ipc = false;      // cudaIpcGetMemHandle works
    bool posix_fd = false;        // exports as a file descriptor that peers can use (VMM, pool, the host domain's own)
    void *pool = nullptr;         // CUmemoryPool of stream-ordered memory
    bool chunk = false;           // one mapping in reserved address space (VMM): a buffer may continue in the next one

    bool operator==(const PointerInfo &) const = default;
};

}  // namespace baton::core
