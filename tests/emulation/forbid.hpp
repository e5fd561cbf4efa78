#pragma once

#include <cstddef>

#include "emulation/sanitizer.hpp"

#if defined(BATON_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace baton::emulation {

/// Loads and stores of these bytes, from a multiple of 8 on, end the process under AddressSanitizer.
inline void forbid([[maybe_unused]] const std::byte *at, [[maybe_unused]] std::size_t bytes) {
#if defined(BATON_ASAN)
    ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
}
inline void allow([[maybe_unused]] const std::byte *at, [[maybe_unused]] std::size_t bytes) {
#if defined(BATON_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
}

}  // namespace baton::emulation
