#pragma once

#include <cstdint>

#include "util/failure.hpp"

namespace baton::core {

/// A rank's failure, or none, in the form that others are told. It has a fixed size, so a rank needs no memory to tell
/// it and no second exchange to hear it. The words may be cut.
struct ToldFailure {
    void set(int rank_that_fails, const Failure &failure) noexcept;
    bool any() const { return rank >= 0; }

    std::int32_t rank = -1;
    std::int32_t code = BATON_SUCCESS;
    char text[1000] = {};
};

/// What the others report of a rank that has given up (Bootstrap::give_up).
Failure failure_of(const ToldFailure &words) noexcept;

}  // namespace baton::core
