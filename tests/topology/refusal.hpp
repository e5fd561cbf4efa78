#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "util/failure.hpp"

namespace baton::topology {

/// The message that it is refused with; a failure of the test where it is not.
inline std::string refusal(const std::function<void()> &call) {
    try {
        call();
    } catch (const core::Failure &failure) {
        EXPECT_EQ(failure.code(), BATON_ERR_ARGUMENT);
        return failure.what();
    }
    ADD_FAILURE() << "not refused";
    return {};
}

}  // namespace baton::topology
