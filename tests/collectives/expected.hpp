#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "baton/baton.h"

/// The data of collectives over thread ranks, and the results that they must give. expected.cpp is optimised, because
/// every byte of every test is made and compared there.
namespace baton::test {

using Buffers = std::vector<std::vector<std::byte>>;  // by rank

/// Bytes that depend on rank, place and seed.
std::vector<std::byte> pattern(std::uint64_t seed, int rank, std::size_t bytes);
Buffers all_patterns(std::uint64_t seed, int size, std::size_t bytes);

/// `count` elements from element `first` on, combined in rank order, the order that baton.h promises.
std::vector<std::byte> expected_reduction(const Buffers &inputs, std::size_t count, baton_type type, baton_op op,
                                          std::size_t first = 0);

/// EXPECT_TRUE(equal_bytes(...)) names the first byte that differs.
::testing::AssertionResult equal_bytes(std::span<const std::byte> expected, std::span<const std::byte> found);

}  // namespace baton::test
