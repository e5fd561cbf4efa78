#include "topology/components.hpp"

namespace baton::topology {

std::vector<int> components(std::size_t count, const std::function<bool(std::size_t, std::size_t)> &joined) {
    std::vector<int> number(count, -1);
    int components = 0;
    for (std::size_t first = 0; first < count; ++first) {
        if (number[first] >= 0) continue;
        number[first] = components;
        std::vector<std::size_t> members{first};
        for (std::size_t index = 0; index < members.size(); ++index)  // grows while it is walked
            for (std::size_t other = 0; other < count; ++other) {
                if (number[other] >= 0 || !joined(members[index], other)) continue;
                number[other] = components;
                members.push_back(other);
            }
        ++components;
    }
    return number;
}

}  // namespace baton::topology
