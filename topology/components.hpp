#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace baton::topology {

/// Returns, for each of `count` members, the number of its component. Members are in one component if `joined`, which
/// is symmetric, connects them, maybe by way of others. Components are numbered by their smallest members.
std::vector<int> components(std::size_t count, const std::function<bool(std::size_t, std::size_t)> &joined);

}  // namespace baton::topology
