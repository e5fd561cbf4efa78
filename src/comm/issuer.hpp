#pragma once

#include <functional>
#include <span>

#include "collectives/executor.hpp"
#include "comm/breakage.hpp"
#include "comm/parts.hpp"
#include "comm/planner.hpp"

namespace baton::core {

/// Hands a communicator's checked calls to its executor: plans them, makes their buffers reachable for the peers, and
/// stages those that cannot be. The caller has the communicator's turn.
class Issuer {
public:
    Issuer(CommParts &parts, const Planner &planner, Breakage &breakage)
        : parts_(parts), planner_(planner), breakage_(breakage) {}

    /// Throws BATON_ERR_ARGUMENT for a stream that the communicator's calls cannot go on, as run(), run_messages() and
    /// run_one_sided() do.
    void require_stream(void *stream) const { parts_.executor->require_stream(stream); }
    /// Throws what run() and run_messages() would throw for the request's size. For calls that are put off, behind
    /// others that will not be undone.
    void require_runnable(const Request &request) const;
    void run(const Request &request, void *stream);
    /// Runs sends and recvs, which progress together.
    void run_messages(std::span<const Request> requests, void *stream);
    /// Runs `work`, which issues a one-sided call.
    void run_one_sided(const std::function<void(Executor &)> &work);
    /// Runs a local call that may publish memory: a peer that does not answer breaks the communicator.
    void run_local(const std::function<void()> &work);

private:
    /// Runs `body`, which issues a call. Its failure breaks the communicator if the call is partly enqueued, if the
    /// code is one that breaks communicators (MISMATCH, TIMEOUT, PEER_DEAD), or if it leaves no way to make memory
    /// known (PeerMemory::interruption()).
    template <class Body>
    void guard(const Body &body);
    /// What a call tells its peers about its buffers, and the addresses that it works on: the user's, or staging.
    struct Reachable {
        Arrival arrival;
        const std::byte *send;
        std::byte *recv;
    };
    /// Names or stages the call's buffers, and copies staged input.
    Reachable make_reachable(const PlannedCall &call, Buffers::Use &use, void *stream);
    void use_scratch(const PlannedCall &call, CollectiveArgs &args, Buffers::Use &use, void *stream);
    void issue(const Request &request, void *stream);
    void issue_messages(std::span<const Request> requests, void *stream);

    CommParts &parts_;
    const Planner &planner_;
    Breakage &breakage_;
};

}  // namespace baton::core
