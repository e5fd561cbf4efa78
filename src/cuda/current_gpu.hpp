#pragma once

namespace baton::core {

/// Ordinal of the calling thread's current device if a usable GPU and driver are there, else -1, also in a build
/// without CUDA. Never throws.
int current_gpu();

}  // namespace baton::core
