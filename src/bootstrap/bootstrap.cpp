#include "bootstrap/bootstrap.hpp"

#include <algorithm>
#include <cstring>

#include "util/fixed_text.hpp"

namespace baton::core {

std::vector<std::string> Bootstrap::allgather_strings(const std::string &mine) {
    const std::vector<std::size_t> lengths = allgather(mine.size());
    const std::size_t width = *std::max_element(lengths.begin(), lengths.end());
    std::vector<std::string> texts(lengths.size());
    if (width == 0) return texts;
    std::string padded = mine;
    padded.resize(width);
    std::vector<char> all(width * lengths.size());
    allgather(padded.data(), width, all.data());
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i].assign(all.data() + i * width, lengths[i]);
    return texts;
}

void Bootstrap::LastWords::set(int rank_that_fails, const Failure &failure) noexcept {
    rank = rank_that_fails;
    code = failure.code();
    copy_text(text, failure.what());
}

void Bootstrap::LastWords::raise() const {
    fail(static_cast<baton_result>(code), "rank {} has given up: {}", rank, text);
}

}  // namespace baton::core
