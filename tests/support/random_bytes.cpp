#include "support/random_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "support/environment.hpp"

namespace baton::test {

std::vector<std::byte> random_bytes(std::uint64_t key, std::size_t bytes) {
    std::vector<std::byte> result(bytes);
    const std::uint64_t base = mix(key);
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = mix(base + at);
        std::memcpy(result.data() + at, &word, std::min(sizeof(word), bytes - at));
    }
    return result;
}

}  // namespace baton::test
