#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "runner.hpp"

/// Where the ranks of a test program come from, threads.cpp or processes.cpp, and what they run on.
namespace baton::core::contract {

/// The numbers of ranks that this program can run.
std::vector<int> rank_counts();
/// The engines that its ranks can be given.
std::vector<Transport> transports();
/// Runs `body` once per rank. An exception that leaves it ends the program: the other ranks may wait for this one.
void with_ranks(int ranks, const std::function<void(Bootstrap &)> &body);
/// The same on all ranks, printed: BATON_TEST_SEED, or the time.
std::uint64_t seed();

}  // namespace baton::core::contract
