#pragma once

#include <string>

#include "bootstrap/bootstrap.hpp"

namespace baton::core {

/// Throws BATON_ERR_MISMATCH, on all ranks, unless all have the same baton_build_id(). Behind connect(), whose
/// messages keep their form, and ahead of all else that is a build's: what ranks tell each other of what they run on,
/// the arenas, the tables that are compiled in, by which each rank chooses the algorithms. Collective.
void require_same_build(Bootstrap &bootstrap, const std::string &mine);

}  // namespace baton::core
