#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace baton::test {

/// Bytes that differ by key and index.
std::vector<std::byte> random_bytes(std::uint64_t key, std::size_t bytes);

}  // namespace baton::test
