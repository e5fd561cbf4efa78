#pragma once

#include <string>

#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// Collective: throws BATON_ERR_MISMATCH, on all ranks, unless all have the same baton_build_id(). To be called right
/// after connect(), whose messages never change between builds, and before anything that a build may change: what ranks
/// tell each other of what they run on, the arenas' layout, the compiled-in tables by which each rank chooses
/// algorithms.
void require_same_build(Bootstrap &bootstrap, const std::string &mine);

}  // namespace baton::core
