#pragma once

#include <cstdint>
#include <string>

namespace baton::core {

/// 64 bits from the system's random generator.
std::uint64_t random_number();

/// `prefix` and 32 random hexadecimal digits: a name that no other job has and nobody can guess.
std::string random_name(const std::string &prefix);

}  // namespace baton::core
