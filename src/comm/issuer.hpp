#pragma once

#include <functional>
#include <span>
#include <string>

#include "collectives/executor.hpp"
#include "collectives/selection.hpp"
#include "comm/breakage.hpp"
#include "comm/parts.hpp"
#include "comm/planned_call.hpp"

namespace baton::core {

/// Brings a communicator's checked calls to its executor: plans them, makes their buffers reachable for the peers, and
/// copies those that are not. The caller has the communicator's turn.
class Issuer {
public:
    Issuer(CommParts &parts, Breakage &breakage) : parts_(parts), breakage_(breakage) {}

    void run(const Request &request, void *stream);
    /// Sends and recvs, which progress together.
    void run_messages(std::span<const Request> requests, void *stream);
    /// `work` issues a one-sided call.
    void run_one_sided(const std::function<void(Executor &)> &work, void *stream);
    /// A local call that may publish memory: a peer that does not answer breaks the communicator.
    void run_local(const std::function<void()> &work);

    Plan plan(const Request &request) const { return select(request, parts_.capabilities); }
    /// How a call would run, and why, line by line.
    std::string explain(baton_operation operation, std::uint64_t count, baton_type type, baton_op op, const void *send,
                        const void *recv) const;

private:
    /// Runs what a call issues: a failure whose code breaks communicators (MISMATCH, TIMEOUT, PEER_DEAD) breaks this
    /// one.
    template <class Body>
    void guard(const Body &body);
    PlannedCall planned(const Request &request, const Plan &plan) const;
    bool skips_staging_if_mapped(const Request &request, const Plan &plan) const;
    Arrival arrival_of(const PlannedCall &call, Buffers::Use &use, const std::byte **send, std::byte **recv,
                       void *stream);
    void use_scratch(const PlannedCall &call, CollectiveArgs &args, Buffers::Use &use, void *stream);
    void issue(const Request &request, void *stream);
    void issue_messages(std::span<const Request> requests, void *stream);
    void after_call(void *stream);
    std::string buffers_text(const PlannedCall &call, const void *send, const void *recv) const;
    std::string in_place_text(const PlannedCall &call, const void *send, const void *recv) const;

    CommParts &parts_;
    Breakage &breakage_;
};

}  // namespace baton::core
