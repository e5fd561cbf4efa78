#pragma once

#include <cstdint>
#include <string>

namespace baton::core {

/// 64 bits from the system's random generator.
std::uint64_t random_number();

/// `prefix` and 32 hexadecimal digits of it: a name that no other job has and none can guess.
std::string random_name(const std::string &prefix);

}  // namespace baton::core
