#pragma once

#include <functional>

#include "util/failure.hpp"

namespace baton::test {

/// What a call throws; BATON_SUCCESS without a message if it returns.
inline core::Failure thrown_by(const std::function<void()> &call) {
    try {
        call();
    } catch (const core::Failure &failure) {
        return failure;
    }
    return {BATON_SUCCESS, ""};
}
inline baton_result code_of(const std::function<void()> &call) { return thrown_by(call).code(); }

}  // namespace baton::test
