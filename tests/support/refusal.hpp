#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/thrown_by.hpp"

namespace baton::test {

/// The message that it is refused with; a failure of the test where it is not.
inline std::string refusal(const std::function<void()> &call) {
    const core::Failure failure = thrown_by(call);
    EXPECT_EQ(failure.code(), BATON_ERR_ARGUMENT) << failure.what();
    return failure.what();
}

}  // namespace baton::test
