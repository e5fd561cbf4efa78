#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace baton::test {

/// BATON_TEST_SEED, or the time. Whoever draws it prints it, so that a failure can be repeated.
inline std::uint64_t draw_seed() {
    const char *text = std::getenv("BATON_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 0) : static_cast<std::uint64_t>(std::time(nullptr));
}

}  // namespace baton::test
