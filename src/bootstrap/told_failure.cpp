#include "bootstrap/told_failure.hpp"

#include "util/fixed_text.hpp"

namespace baton::core {

void ToldFailure::set(int rank_that_fails, const Failure &failure) noexcept {
    rank = rank_that_fails;
    code = failure.code();
    copy_text(text, failure.what());
}

Failure failure_of(const ToldFailure &words) noexcept {
    return failure_of(static_cast<baton_result>(words.code), "rank {} has given up: {}", words.rank, words.text);
}

}  // namespace baton::core
