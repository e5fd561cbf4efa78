#pragma once

#include <cstdint>
#include <iterator>

namespace baton::core {

/// The entry of a map by base address that holds `address`, or end(). Entries do not overlap, and have a `size`.
template <class Map>
auto containing(Map &map, std::uint64_t address) {
    const auto next = map.upper_bound(address);
    if (next == map.begin()) return map.end();
    const auto found = std::prev(next);
    return address - found->first < found->second.size ? found : map.end();
}

}  // namespace baton::core
