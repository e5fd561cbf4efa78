#pragma once

#include <string>

#include "collectives/capabilities.hpp"
#include "collectives/plan.hpp"
#include "collectives/request.hpp"

namespace baton::core {

/// Chooses how a call runs: as the user's settings say, else as the links ask, else as the tuning table says, else the
/// next possible way. Pure: equal arguments give equal plans, on every rank. It looks only at the operation, type and
/// bytes of the request.
Plan select(const Request &request, const Capabilities &capabilities);

/// Whether a channel's line buffers hold a run for each of its blocks, so that they can be rings for lines that go from
/// rank to rank (transport.hpp, pass_lines).
bool has_line_rings(const Capabilities &capabilities);

/// One line: "push by copy_engine, 32 channels: <reason>".
std::string describe(const Plan &plan, const Request &request, const Capabilities &capabilities);

}  // namespace baton::core
