#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <vector>

#include "cuda/handles.hpp"

namespace baton::core {

/// Keeps the operations of a communicator in issue order across streams, eager and captured. An event is
/// recorded after every eager operation, and an operation on another stream than the last waits for it first. While
/// there are graphs, every eager operation does: launches come without notice.
///
/// In a capture, the first operation waits for that event as it stands when the graph is launched, and the event is
/// recorded by a node of its own that follows the last operation: a launch is ordered after the eager calls before it,
/// and eager calls after it. The node hangs beside the chain of operations, where it costs them nothing; it moves on
/// with every operation. An operation on another stream of the capture becomes dependent on the one before.
class GpuOrder {
public:
    GpuOrder();

    /// Throws BATON_ERR_ARGUMENT for a stream of another device than the current one: it would take some of what a call
    /// enqueues and refuse the rest. Not in a capture, where CUDA does not tell the device, and refuses the launch.
    static void require_stream(cudaStream_t stream);

    /// Where an operation went: after() is told what before() has found.
    enum class Into {
        stream,
        graph
    };
    /// Throws as require_stream().
    [[nodiscard]] Into before(cudaStream_t stream);
    void after(cudaStream_t stream, Into into);
    /// Whether everything recorded has finished. Never true while there are graphs with operations of this
    /// communicator, as replays come without notice. idle() and drain() REQUIRE the communicator's device, and that
    /// this thread's capture allows them.
    bool idle() const;
    void drain() const; /* waits until it has; throws where CUDA cannot tell */
    /// mark() marks what is recorded by now, in place of what it marked before; mark_is_done() says whether that has
    /// finished, including launches of graphs that came before mark(). mark() makes no CUDA call, so that it cannot
    /// fail: the first mark_is_done() that finds something under way records an event behind it, and behind whatever
    /// else has been recorded by then.
    void mark() noexcept { mark_state_ = Mark::wanted; }
    bool mark_is_done(); /* REQUIRES what idle() does */

private:
    /// The nodes that a capturing stream will make its next one depend on.
    struct Tail {
        unsigned long long capture = 0;  // 0: the stream does not capture
        cudaGraph_t graph = nullptr;
        std::vector<cudaGraphNode_t> nodes;
    };
    static Tail tail_of(cudaStream_t stream);

    enum class Mark {
        wanted,    // last_ may have been recorded again since
        recorded,  // by mark_, in marker_ behind last_
        done
    };

    /// A capture with operations of this communicator; it may have ended.
    struct Capture {
        Tail last;                         // the last operation's; before there is one, that of the wait
        cudaGraphNode_t record = nullptr;  // the node that records last_, behind the last operation
        std::weak_ptr<const int> alive;    // as long as the graph lives, and so the capture, or what was made of it
    };

    std::weak_ptr<const int> count_while_it_lives(cudaGraph_t graph);
    bool has_graphs() const { return graphs_->load(std::memory_order_acquire) != 0; }
    void before_captured(cudaStream_t stream, const Tail &tail);
    void after_captured(Tail tail);
    void record_mark() noexcept;
    Capture *find(unsigned long long capture);

    Event last_ = make_event();
    Event mark_ = make_event();
    // For mark_ alone. Its wait holds up no other stream (docs/gpu_testing.md).
    Stream marker_ = make_stream();
    Mark mark_state_ = Mark::done;
    unsigned long long stream_ = 0;  // of the last eager operation: cudaStreamGetId, unlike the handle never reused
    std::vector<Capture> captures_;  // ids are never used again
    // Launches of graphs may have recorded last_, behind operations on no stream that before() knows.
    bool captured_ = false;
    // Graphs under capture, captured, or made of those, which may outlive this. CUDA counts down, from any thread, when
    // a graph and all that was instantiated from it are gone and have run.
    using Graphs = std::shared_ptr<std::atomic<int>>;
    Graphs graphs_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace baton::core
