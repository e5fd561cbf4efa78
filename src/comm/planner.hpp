#pragma once

#include <string>

#include "collectives/selection.hpp"
#include "comm/parts.hpp"
#include "comm/planned_call.hpp"

namespace baton::core {

/// Decides how a communicator's calls run, and says why. Issues nothing.
class Planner {
public:
    explicit Planner(const CommParts &parts) : parts_(parts) {}

    /// Throws BATON_ERR_UNSUPPORTED for a call of too many steps or pieces. The result refers to the request.
    PlannedCall plan(const Request &request) const;
    /// Returns the plan of a call, whoever its root is. REQUIRES: no signal, for which there is no choice.
    Plan plan(baton_operation operation, std::uint64_t count, baton_type type, baton_op op) const;
    /// Whether a staged call copies memory straight that peers have mapped (baton_malloc, windows): on the host staging
    /// is for memory that they reach slowly, or not at all. Collectives do so if it is mapped on all ranks, as their
    /// arrivals tell; long messages if the sender's is.
    bool skips_staging_if_mapped(const PlannedCall &call) const;

    /// Returns how a call would run, and why, line by line.
    std::string explain(baton_operation operation, std::uint64_t count, baton_type type, baton_op op, const void *send,
                        const void *recv) const;

private:
    std::string buffers_text(const PlannedCall &call, const void *send, const void *recv) const;

    const CommParts &parts_;
};

}  // namespace baton::core
