#pragma once

#include <functional>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/told_failure.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// A failure that all ranks have agreed on when they met: nobody is left waiting, and they can meet again. Making one
/// needs no memory, so after their last exchange no rank fails in another way than the others.
class Agreed : public Failure {
public:
    explicit Agreed(const Failure &failure) noexcept : Failure(failure) {}
};

/// Throws Agreed: all ranks conclude the same from what they have told each other.
template <class... Args>
[[noreturn]] void fail_alike(baton_result code, fmt::format_string<Args...> format, Args &&...args) {
    throw Agreed(failure_of(code, format, std::forward<Args>(args)...));
}

/// Throws Agreed ("rank 2: ...") if `failure` holds one. All ranks ask about the same failures, in the same order.
void throw_if_told(const ToldFailure &failure);

/// Collective: runs `body` on every rank. If it fails on any, all throw Agreed, with the code and words of the lowest
/// rank on which it did ("rank 2: ..."), so that nobody goes on alone.
void agree(Bootstrap &bootstrap, const std::function<void()> &body);

}  // namespace baton::core
