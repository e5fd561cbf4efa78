#include "perf/side.hpp"

#include <algorithm>

#include "limits/host_cost.hpp"

namespace baton::bench::perf {

Side::Side(const Communicator &communicator, const Shape &shape, Mode mode, const Verifier &verifier, Library &library)
    : communicator_(communicator), mode_(mode), operation_(make_operation(shape, communicator, verifier, library)) {
    operation_->prepare(0);
}

void Side::issue(int calls) {
    for (int call = 0; call < calls; ++call) {
        operation_->issue();
    }
}

double Side::time_calls(int calls) {
    const World &world = communicator_.world();
    world.barrier();
    const double start = seconds_now();
    issue(calls);
    communicator_.synchronize();
    return world.max(seconds_now() - start) / std::max(1, calls);
}

double Side::warm_up(int calls) {
    constexpr int most_batches = 4;
    double fastest = time_calls(std::min(calls, 1));  // makes buffers known to the peers
    int left = calls - 1;
    // In batches, so that one slow call spoils only its own batch. Of two calls or more, since each batch has a wait.
    for (int batches = std::clamp((left + 1) / 2, 1, most_batches); left > 0; --batches) {
        const int batch = (left + batches - 1) / batches;
        fastest = std::min(fastest, time_calls(batch));
        left -= batch;
    }
    return fastest;
}

void Side::measure_host_cost(int calls) {
    timing_.host = host_seconds(communicator_, calls, [this] { operation_->issue(); });
}

void Side::set_calls(int calls) {
    timing_.calls = calls;
    if (mode_ == Mode::graph) {
        capture(calls);
        run_calls(calls);  // the first launch uploads the graph
        communicator_.synchronize();
    }
}

void Side::capture(int calls) {
    graph_ = gpu::capture(communicator_.stream(), [&] { issue(calls); });
}

/// REQUIRES: in a graph, as many calls as are captured.
void Side::run_calls(int calls) {
    if (graph_ == nullptr) {
        issue(calls);
    } else {
        operation_->replay(calls);
        graph_->launch(communicator_.stream());
    }
}

void Side::run_round() {
    communicator_.world().barrier();
    const double start = seconds_now();
    run_calls(timing_.calls);
    communicator_.synchronize();
    timing_.times.push_back((seconds_now() - start) / timing_.calls);
    communicator_.check_alive();
}

void Side::run_checked_round() {
    operation_->prepare(timing_.times.size() + 1);
    run_round();
    timing_.wrong += operation_->verify(timing_.calls).wrong;
}

void Side::check_single_calls() {
    constexpr std::size_t single_calls = 2;
    if (mode_ == Mode::graph) {
        capture(1);
    }
    for (std::size_t call = 0; call < single_calls; ++call) {
        operation_->prepare(timing_.times.size() + call + 1);
        communicator_.world().barrier();
        run_calls(1);
        communicator_.synchronize();
        communicator_.check_alive();
        timing_.wrong += operation_->verify(1).wrong;
    }
}

Timing Side::finish() {
    const World &world = communicator_.world();
    Timing timing = timing_;
    timing.times = world.max(std::move(timing.times));
    timing.median = median(timing.times);
    timing.p99 = percentile(timing.times, 99);
    timing.wrong = world.sum(timing.wrong);
    return timing;
}

}  // namespace baton::bench::perf
