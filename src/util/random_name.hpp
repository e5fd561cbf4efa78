#pragma once

#include <string>

namespace baton::core {

/// `prefix` and 32 hexadecimal digits from the system's random generator: a name that no other job has and none can
/// guess.
std::string random_name(const std::string &prefix);

}  // namespace baton::core
