#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace baton::topology {

/// What has the same said of it, in order of first appearance: (what is said, of which).
struct Groups {
    std::vector<std::pair<std::string, std::vector<std::string>>> list;

    void add(const std::string &said, std::string member) {
        auto at = std::find_if(list.begin(), list.end(), [&](const auto &group) { return group.first == said; });
        if (at == list.end()) at = list.insert(list.end(), {said, {}});
        at->second.push_back(std::move(member));
    }
};

}  // namespace baton::topology
