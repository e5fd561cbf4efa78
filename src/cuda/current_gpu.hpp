#pragma once

namespace baton::core {

/// Ordinal of the calling thread's current device if there are a usable GPU and driver; else, and in a build without
/// CUDA, -1. Never throws.
int current_gpu();

}  // namespace baton::core
