#pragma once

#include <fmt/format.h>

#include <string>

namespace baton::core {

/// "13.0" for 13000, as CUDA numbers its versions.
inline std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace baton::core
