#include "bootstrap/agree.hpp"

#include <algorithm>
#include <exception>

namespace baton::core {

void agree(Bootstrap &bootstrap, const std::function<void()> &body) {
    ToldFailure mine;
    try {
        body();
    } catch (const std::exception &exception) {
        mine.set(bootstrap.rank(), as_failure(exception));
    }
    const std::vector<ToldFailure> all = bootstrap.allgather(mine);
    const auto first = std::find_if(all.begin(), all.end(), [](const ToldFailure &one) { return one.any(); });
    if (first != all.end()) fail_alike(static_cast<baton_result>(first->code), "rank {}: {}", first->rank, first->text);
}

}  // namespace baton::core
