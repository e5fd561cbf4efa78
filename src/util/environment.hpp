#pragma once

#include <cstdlib>

namespace baton::core {

/// The value of an environment variable; null if it is not set, or empty.
inline const char *variable(const char *name) {
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace baton::core
