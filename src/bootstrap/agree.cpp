#include "bootstrap/agree.hpp"

#include <exception>

namespace baton::core {

void throw_if_told(const ToldFailure &failure) {
    if (failure.any()) fail_alike(static_cast<baton_result>(failure.code), "rank {}: {}", failure.rank, failure.text);
}

void agree(Bootstrap &bootstrap, const std::function<void()> &body) {
    ToldFailure mine;
    try {
        body();
    } catch (const std::exception &exception) {
        mine.set(bootstrap.rank(), as_failure(exception));
    }
    for (const ToldFailure &failure : bootstrap.allgather(mine)) throw_if_told(failure);
}

}  // namespace baton::core
