#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace baton::topology {

/// Members grouped by what is said of them, in order of first appearance: (what is said, members).
struct Groups {
    std::vector<std::pair<std::string, std::vector<std::string>>> list;

    void add(const std::string &said, std::string member) {
        auto at = std::find_if(list.begin(), list.end(), [&](const auto &group) { return group.first == said; });
        if (at == list.end()) at = list.insert(list.end(), {said, {}});
        at->second.push_back(std::move(member));
    }
};

}  // namespace baton::topology
