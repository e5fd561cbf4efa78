#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/args.hpp"
#include "collectives/p2p/message.hpp"
#include "collectives/plan.hpp"
#include "collectives/request.hpp"
#include "sync/control.hpp"
#include "util/failure.hpp"

namespace baton::core {

/// A send or recv with its plan. The executor numbers it.
struct MessageCall {
    Message message;
    Plan plan;
};

/// A failure behind which the peers may have been told of an operation that will not happen, or parts of it are under
/// way.
class PartlyEnqueued : public Failure {
public:
    explicit PartlyEnqueued(const Failure &cause) : Failure(cause) {}
};

/// Runs planned calls of one communicator, in issue order. One implementation on the host, one on a GPU. Calls come one
/// at a time (the communicator's lock is held) and return after enqueueing, or, on the host without a stream, when
/// done. Failures of the operation itself (a rank that does not come, ...) are found in the communicator's Control;
/// exceptions mean that the system refused something: nothing was started, unless it is a PartlyEnqueued.
class Executor {
public:
    virtual ~Executor() = default;

    /// Throws BATON_ERR_ARGUMENT if operations of this communicator cannot go on `stream`. Operations check that
    /// themselves when they enqueue their first part; this is for calls that are put off behind others, which will not
    /// be undone.
    virtual void require_stream(void *stream) = 0;

    virtual void collective(const Request &request, const Plan &plan, const CollectiveArgs &args, void *stream) = 0;

    /// True while the stream records a graph: what is enqueued does not run yet.
    virtual bool captures(void *stream) = 0;

    /// All of them progress together.
    virtual void messages(std::vector<MessageCall> calls, void *stream) = 0;

    /// destination and source are addresses of this process, one of them a peer's window memory.
    virtual void transfer(std::byte *destination, const std::byte *source, std::uint64_t bytes, const Plan &plan,
                          void *stream) = 0;
    virtual void signal(int window, int target, void *stream) = 0;
    virtual void wait_signal(int window, int source, std::uint64_t signals, void *stream) = 0;

    /// A plain copy within this rank's memory, in order with the rest: for buffers that have to be staged.
    virtual void local_copy(std::byte *destination, const std::byte *source, std::uint64_t bytes, void *stream) = 0;

    /// Waits until what has been issued is done, or the communicator is broken and its waits have ended.
    virtual void drain() = 0;
    /// True if everything issued has finished. Never waits.
    virtual bool idle() = 0;
    /// Marks what has been issued by now, for mark_is_done(), in place of what was marked before.
    virtual void mark() noexcept = 0;
    /// True if all that was marked has finished, including launches of graphs that came before mark(). Never waits.
    virtual bool mark_is_done() = 0;
    /// Ends the waits of running operations once the communicator is broken. Called again at every tick of the service
    /// thread, for what is queued behind. Any thread; never waits for the GPU.
    virtual void interrupt() noexcept = 0;

    struct OverdueWait {
        int peer;
        WaitFor wait_for;
    };
    /// A wait that has no deadline of its own and has lasted too long. Called at every tick.
    virtual std::optional<OverdueWait> overdue() = 0;
};

}  // namespace baton::core
