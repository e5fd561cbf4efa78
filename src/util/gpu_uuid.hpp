#pragma once

#include <string>

namespace baton::core {

/// The UUID as nvidia-smi and NVML print it: "GPU-" and hexadecimal digits in groups.
std::string gpu_uuid_text(const char (&bytes)[16]);

}  // namespace baton::core
