#pragma once

namespace baton::emulation {

/// On a block's thread, before it runs: what is `__shared__` (cuda.hpp) has no value that a kernel could rely on.
void spoil_shared_memory();

}  // namespace baton::emulation
