#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace baton::test {

/// BATON_TEST_SEED, or the time. To be printed, so that a failure can be repeated.
inline std::uint64_t choose_seed() {
    const char *text = std::getenv("BATON_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 0) : static_cast<std::uint64_t>(std::time(nullptr));
}

/// The same, printed.
inline std::uint64_t draw_seed() {
    const std::uint64_t seed = choose_seed();
    std::printf("BATON_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

}  // namespace baton::test
