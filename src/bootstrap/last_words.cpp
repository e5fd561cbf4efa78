#include "bootstrap/last_words.hpp"

#include "util/fixed_text.hpp"

namespace baton::core {

void LastWords::set(int rank_that_fails, const Failure &failure) noexcept {
    rank = rank_that_fails;
    code = failure.code();
    copy_text(text, failure.what());
}

void LastWords::raise() const {
    throw failure_of(static_cast<baton_result>(code), "rank {} has given up: {}", rank, text);
}

}  // namespace baton::core
