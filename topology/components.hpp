#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace baton::topology {

/// Of each of `count` members, the number of its component: those that `joined`, which is symmetric, connects, maybe by
/// way of others. Numbered by their smallest members.
std::vector<int> components(std::size_t count, const std::function<bool(std::size_t, std::size_t)> &joined);

}  // namespace baton::topology
