#include "util/random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "util/failure.hpp"

namespace baton::core {

std::uint64_t random_number() {
    std::uint64_t bits;
    // Up to 256 bytes are given whole or not at all, once the generator is seeded.
    while (::getrandom(&bits, sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) {
        if (errno != EINTR) fail(BATON_ERR_SYSTEM, "getrandom: {}", errno_text(errno));
    }
    return bits;
}

std::string random_name(const std::string &prefix) {
    return fmt::format("{}{:016x}{:016x}", prefix, random_number(), random_number());
}

}  // namespace baton::core
