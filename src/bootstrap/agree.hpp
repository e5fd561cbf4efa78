#pragma once

#include <functional>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/told_failure.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// A failure that all ranks have agreed on when they met: nobody is left waiting, and they can meet again. Making one
/// needs no memory, so that no rank fails otherwise than the others behind their last exchange.
class Agreed : public Failure {
public:
    explicit Agreed(const Failure &failure) noexcept : Failure(failure) {}
};

/// Throws what all ranks conclude alike from what they have told each other.
template <class... Args>
[[noreturn]] void fail_alike(baton_result code, fmt::format_string<Args...> format, Args &&...args) {
    throw Agreed(failure_of(code, format, std::forward<Args>(args)...));
}

/// Throws Agreed ("rank 2: ...") if it is one. All ranks ask the same ones in the same order.
void throw_if_told(const ToldFailure &failure);

/// Runs `body` on every rank. Where one fails, all throw Agreed, with the code and words of the first that did
/// ("rank 2: ..."), so that nobody goes on alone. Collective.
void agree(Bootstrap &bootstrap, const std::function<void()> &body);

}  // namespace baton::core
