#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/thrown_by.hpp"

namespace baton::test {

/// The message that a call is refused with. If it is not refused, the test fails.
inline std::string refusal(const std::function<void()> &call) {
    const core::Failure failure = thrown_by(call);
    EXPECT_EQ(failure.code(), BATON_ERR_ARGUMENT) << failure.what();
    return failure.what();
}

}  // namespace baton::test
