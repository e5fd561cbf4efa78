#pragma once

#include <functional>
#include <span>

#include "collectives/executor.hpp"
#include "comm/breakage.hpp"
#include "comm/parts.hpp"
#include "comm/planner.hpp"

namespace baton::core {

/// Brings a communicator's checked calls to its executor: plans them, makes their buffers reachable for the peers, and
/// copies those that are not. The caller has the communicator's turn.
class Issuer {
public:
    Issuer(CommParts &parts, const Planner &planner, Breakage &breakage)
        : parts_(parts), planner_(planner), breakage_(breakage) {}

    /// Throws BATON_ERR_ARGUMENT for a stream that the communicator's calls cannot go on, as all of the below do.
    void require_stream(void *stream) const { parts_.executor->require_stream(stream); }
    /// Throws what the calls below would throw for its size: for calls that are put off, behind others that will not be
    /// undone.
    void require_runnable(const Request &request) const;
    void run(const Request &request, void *stream);
    /// Sends and recvs, which progress together.
    void run_messages(std::span<const Request> requests, void *stream);
    /// `work` issues a one-sided call.
    void run_one_sided(const std::function<void(Executor &)> &work);
    /// A local call that may publish memory: a peer that does not answer breaks the communicator.
    void run_local(const std::function<void()> &work);

private:
    /// Runs what a call issues: a failure whose code breaks communicators (MISMATCH, TIMEOUT, PEER_DEAD) breaks this
    /// one, and so does one that leaves a peer without an answer to what it was told of memory.
    template <class Body>
    void guard(const Body &body);
    /// What a call tells its peers of its buffers, and the addresses that it works on: the user's, or those of staging.
    struct Reachable {
        Arrival arrival;
        const std::byte *send;
        std::byte *recv;
    };
    /// Copies input that is staged.
    Reachable make_reachable(const PlannedCall &call, Buffers::Use &use, void *stream);
    void use_scratch(const PlannedCall &call, CollectiveArgs &args, Buffers::Use &use, void *stream);
    void issue(const Request &request, void *stream);
    void issue_messages(std::span<const Request> requests, void *stream);

    CommParts &parts_;
    const Planner &planner_;
    Breakage &breakage_;
};

}  // namespace baton::core
