#include "perf/side.hpp"

#include <algorithm>

#include "limits/host_cost.hpp"

namespace baton::bench::perf {

Side::Side(const Bench &bench, const Shape &shape, Mode mode, const Verifier &verifier, Library &library)
    : bench_(bench), mode_(mode), operation_(make_operation(shape, bench.communicator, verifier, library)) {
    operation_->prepare(0);
}

void Side::issue(int calls) {
    for (int call = 0; call < calls; ++call) {
        operation_->issue();
    }
}

double Side::time_calls(int calls) {
    const World &world = bench_.communicator.world();
    world.barrier();
    const double start = seconds_now();
    issue(calls);
    bench_.communicator.synchronize();
    return world.max(seconds_now() - start) / std::max(1, calls);
}

double Side::warm_up() {
    const int calls = bench_.options.warmup;
    const double first = time_calls(std::min(calls, 1));  // makes buffers known to the peers
    return calls > 1 ? time_calls(calls - 1) : first;
}

void Side::measure_host_cost(int calls) {
    timing_.host = host_seconds(bench_.communicator, calls, [this] { operation_->issue(); });
}

void Side::set_calls(int calls) {
    timing_.calls = calls;
    if (mode_ == Mode::graph) {
        capture(calls);
        run_calls(calls);  // the first launch uploads the graph
        bench_.communicator.synchronize();
    }
}

void Side::capture(int calls) {
    graph_ = gpu::capture(bench_.communicator.stream(), [&] { issue(calls); });
}

/// REQUIRES: as many calls as are captured.
void Side::run_calls(int calls) {
    if (graph_ == nullptr) {
        issue(calls);
    } else {
        operation_->replay(calls);
        graph_->launch(bench_.communicator.stream());
    }
}

void Side::run_round(int round) {
    if (bench_.options.check) {
        operation_->prepare(static_cast<std::uint64_t>(round) + 1);
    }
    bench_.communicator.world().barrier();
    const double start = seconds_now();
    run_calls(timing_.calls);
    bench_.communicator.synchronize();
    timing_.times.push_back((seconds_now() - start) / timing_.calls);
    bench_.communicator.check_alive();
    if (bench_.options.check) {
        timing_.wrong += operation_->verify(timing_.calls).wrong;
    }
}

void Side::check_single_calls() {
    constexpr int single_calls = 2;
    if (mode_ == Mode::graph) {
        capture(1);
    }
    for (int call = 0; call < single_calls; ++call) {
        operation_->prepare(static_cast<std::uint64_t>(bench_.options.rounds + call) + 1);
        bench_.communicator.world().barrier();
        run_calls(1);
        bench_.communicator.synchronize();
        bench_.communicator.check_alive();
        timing_.wrong += operation_->verify(1).wrong;
    }
}

Timing Side::finish() {
    const World &world = bench_.communicator.world();
    Timing timing = timing_;
    timing.times = world.max(std::move(timing.times));
    timing.median = median(timing.times);
    timing.p99 = percentile(timing.times, 99);
    timing.wrong = world.sum(timing.wrong);
    return timing;
}

}  // namespace baton::bench::perf
