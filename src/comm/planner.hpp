#pragma once

#include <string>

#include "collectives/selection.hpp"
#include "comm/parts.hpp"
#include "comm/planned_call.hpp"

namespace baton::core {

/// Which way a communicator's calls go, and why. Issues nothing.
class Planner {
public:
    explicit Planner(const CommParts &parts) : parts_(parts) {}

    /// Throws BATON_ERR_UNSUPPORTED for a call that segments make too long. The result refers to the request.
    PlannedCall plan(const Request &request) const;
    /// Of such a call, whoever its root is. REQUIRES: no signal, which has no choice.
    Plan plan(baton_operation operation, std::uint64_t count, baton_type type, baton_op op) const;
    /// On the host staging is for memory that others reach slowly, or not at all. What they have mapped (baton_malloc,
    /// windows) they copy straight: collectives where that is so of all ranks, as their arrivals tell, long messages
    /// where it is of the sender.
    bool skips_staging_if_mapped(const PlannedCall &call) const;

    /// How a call would run, and why, line by line.
    std::string explain(baton_operation operation, std::uint64_t count, baton_type type, baton_op op, const void *send,
                        const void *recv) const;

private:
    std::string buffers_text(const PlannedCall &call, const void *send, const void *recv) const;

    const CommParts &parts_;
};

}  // namespace baton::core
