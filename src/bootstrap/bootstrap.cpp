#include "bootstrap/bootstrap.hpp"

#include <algorithm>

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

}  // namespace baton::core
