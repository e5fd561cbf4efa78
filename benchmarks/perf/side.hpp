#pragma once

#include <memory>

#include "gpu.hpp"
#include "operation.hpp"
#include "perf/measure.hpp"

namespace baton::bench::perf {

/// One side of a row: an operation of Baton's or a peer's, the calls of its rounds, and their times. Everything is
/// collective. All sides are timed alike: a barrier, the calls one after the other or as one graph, one wait.
class Side {
public:
    Side(const Communicator &communicator, const Shape &shape, Mode mode, const Verifier &verifier, Library &library);

    /// Makes untimed calls. Returns the seconds of one of them on the slowest rank, in the fastest of a few batches.
    double warm_up(int calls);
    /// Measures what a call costs the host, with at most `calls` at a time.
    void measure_host_cost(int calls);
    /// Fixes the number of calls of a round, and captures them.
    void set_calls(int calls);
    void run_round();
    /// A round on inputs of its own, with every element verified.
    void run_checked_round();
    /// Untimed calls after the rounds, each with inputs of its own. The calls of a round all do the same, so one that
    /// did nothing, or gave what an earlier one left, would hide among them.
    void check_single_calls();
    /// Returns the timing over all ranks.
    Timing finish();

    std::string explain() const { return operation_->explain(); }

private:
    double time_calls(int calls);
    void issue(int calls);
    void capture(int calls);
    void run_calls(int calls);

    const Communicator &communicator_;
    const Mode mode_;
    const std::unique_ptr<Operation> operation_;
    std::unique_ptr<gpu::Graph> graph_;
    Timing timing_;
};

}  // namespace baton::bench::perf
