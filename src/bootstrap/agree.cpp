#include "bootstrap/agree.hpp"

#include <algorithm>
#include <exception>
#include <string>

namespace baton::core {

void agree(Bootstrap &bootstrap, const std::function<void()> &body) {
    baton_result code = BATON_SUCCESS;
    std::string text;
    try {
        body();
    } catch (const std::exception &exception) {
        const Failure failure = as_failure(exception);
        code = failure.code();
        text = failure.what();
    }
    const std::vector<baton_result> codes = bootstrap.allgather(code);
    const auto failed = std::find_if(codes.begin(), codes.end(), [](baton_result one) { return one != BATON_SUCCESS; });
    if (failed == codes.end()) return;
    const auto rank = static_cast<std::size_t>(failed - codes.begin());
    throw Agreed(*failed, fmt::format("rank {}: {}", rank, bootstrap.allgather_strings(text)[rank]));
}

}  // namespace baton::core
