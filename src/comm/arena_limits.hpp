#pragma once

#include <vector>

#include "baton/baton.h"
#include "collectives/capabilities.hpp"
#include "sync/arena.hpp"

namespace baton::core {

/// Returns how large the parts of an arena are to be: enough for the tuning's rows, within what memory may cost. Pure.
/// `capabilities`: only size, on_gpu, channels, links and tuning matter. `reach_each_other`: whether ranks reach into
/// each other's memory, as far as is known. `generations`: of the ranks' GPUs (lines_arrive_whole()).
ArenaLayout::Limits arena_limits(const baton_config &config, const Capabilities &capabilities, bool reach_each_other,
                                 const std::vector<int> &generations);

/// Sets in `capabilities` how much of a call fits arenas of this layout.
void take_arena_sizes(const ArenaLayout::Limits &limits, const ArenaLayout &layout, Capabilities &capabilities);

}  // namespace baton::core
