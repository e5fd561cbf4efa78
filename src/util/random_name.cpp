#include "util/random_name.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>

#include "util/failure.hpp"

namespace baton::core {

std::string random_name(const std::string &prefix) {
    std::uint64_t bits[2];
    // At most 256 bytes are given whole or not at all, once the generator is seeded.
    while (::getrandom(bits, sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) {
        if (errno != EINTR) fail(BATON_ERR_SYSTEM, "getrandom: {}", errno_text(errno));
    }
    return fmt::format("{}{:016x}{:016x}", prefix, bits[0], bits[1]);
}

}  // namespace baton::core
