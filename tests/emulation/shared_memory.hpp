#pragma once

namespace baton::emulation {

/// Overwrites what is `__shared__` (cuda.hpp), so that a kernel cannot rely on its values. Called on a block's thread
/// before the block runs.
void spoil_shared_memory();

}  // namespace baton::emulation
