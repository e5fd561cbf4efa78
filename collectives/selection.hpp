#pragma once

#include <string>

#include "collectives/capabilities.hpp"
#include "collectives/plan.hpp"
#include "collectives/request.hpp"

namespace baton::core {

/// Chooses how a call runs: as the user's settings say, else as the tuning table does, else the next possible way.
/// Pure: equal arguments give equal plans, on every rank. Of the request it looks at operation, type and bytes only.
Plan select(const Request &request, const Capabilities &capabilities);

/// Whether the line buffers of a channel hold a run for each of its blocks, and so are rings for lines that go from
/// rank to rank (transport.hpp, pass_lines).
bool has_line_rings(const Capabilities &capabilities);

/// One line: "push by copy_engine, 32 channels: <reason>".
std::string describe(const Plan &plan, const Request &request, const Capabilities &capabilities);

}  // namespace baton::core
