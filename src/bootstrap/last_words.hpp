#pragma once

#include <cstdint>

#include "util/failure.hpp"

namespace baton::core {

/// What a rank that fails alone tells the others (Bootstrap::give_up). Copied as bytes.
struct LastWords {
    void set(int rank_that_fails, const Failure &failure) noexcept;
    bool any() const { return rank >= 0; }
    [[noreturn]] void raise() const;

    std::int32_t rank = -1;
    std::int32_t code = BATON_SUCCESS;
    char text[500] = {};
};

}  // namespace baton::core
