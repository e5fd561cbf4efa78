#include "perf/measure.hpp"

#include <algorithm>
#include <cmath>

#include "gpu.hpp"
#include "statistics.hpp"

namespace baton::bench::perf {

namespace {

/// The calls of a round: issued one after the other, or captured once and launched.
class Calls {
public:
    Calls(Operation &operation, Mode mode, int number, void *stream)
        : operation_(operation), number_(number), stream_(stream) {
        if (mode == Mode::graph) {
            graph_ = gpu::capture(stream, [this] { issue(); });
        }
    }

    void run() {
        if (graph_ == nullptr) {
            issue();
        } else {
            operation_.replay(number_);
            graph_->launch(stream_);
        }
    }

private:
    void issue() {
        for (int call = 0; call < number_; ++call) {
            operation_.issue();
        }
    }

    Operation &operation_;
    const int number_;
    void *stream_;
    std::unique_ptr<gpu::Graph> graph_;
};

/// Seconds a call of the untimed calls, the slowest rank's.
double warm_up(Operation &operation, int calls, const Communicator &communicator) {
    communicator.world().barrier();
    const double start = seconds_now();
    for (int call = 0; call < calls; ++call) {
        operation.issue();
    }
    communicator.synchronize();
    return communicator.world().max(seconds_now() - start) / std::max(1, calls);
}

int affordable_iterations(const Options &options, double call_seconds) {
    const double most = options.budget / options.rounds / std::max(call_seconds, 1e-9);
    return options.budget > 0 && options.warmup > 0
               ? static_cast<int>(std::clamp(std::floor(most), 1.0, static_cast<double>(options.iterations)))
               : options.iterations;
}

}  // namespace

const char *mode_name(Mode mode) { return mode == Mode::graph ? "graph" : "eager"; }

std::size_t table_bytes(const Shape &shape, int ranks) {
    return std::max(send_elements(shape, ranks), recv_elements(shape, ranks)) * baton_type_size(shape.type);
}

std::size_t count_for(Kind kind, baton_type type, std::size_t bytes, int ranks) {
    const bool divided = kind == Kind::allgather || kind == Kind::reduce_scatter;
    return bytes / baton_type_size(type) / (divided ? static_cast<std::size_t>(ranks) : 1);
}

double bus_factor(Kind kind, int ranks) {
    const double share = static_cast<double>(ranks - 1) / ranks;
    switch (kind) {
        case Kind::allgather:
        case Kind::reduce_scatter:
            return share;
        case Kind::allreduce:
            return 2 * share;
        default:
            return 1;
    }
}

Row measure(const Shape &shape, Mode mode, const Options &options, const Communicator &communicator,
            const Verifier &verifier, Workspace &workspace) {
    const World &world = communicator.world();
    const auto operation = make_operation(shape, communicator, verifier, workspace);
    Row row;
    row.shape = shape;
    row.bytes = table_bytes(shape, communicator.size());
    row.explanation = operation->explain();

    operation->prepare(0);
    warm_up(*operation, std::min(options.warmup, 1), communicator);  // the first call makes buffers known to the peers
    const double call_seconds = warm_up(*operation, std::max(options.warmup - 1, 0), communicator);
    row.iterations = affordable_iterations(options, call_seconds);
    Calls calls(*operation, mode, row.iterations, communicator.stream());

    if (mode == Mode::graph) {
        calls.run();  // the first launch uploads the graph
        communicator.synchronize();
    }

    std::uint64_t wrong = 0;
    for (int round = 0; round < options.rounds; ++round) {
        if (options.check) {
            operation->prepare(static_cast<std::uint64_t>(round) + 1);
        }
        world.barrier();
        const double start = seconds_now();
        calls.run();
        communicator.synchronize();
        row.times.push_back((seconds_now() - start) / row.iterations);
        communicator.check_alive();
        if (options.check) {
            wrong += operation->verify(row.iterations).wrong;
        }
    }
    row.times = world.max(std::move(row.times));
    row.wrong = world.sum(wrong);
    row.median = median(row.times);
    row.p99 = percentile(row.times, 99);
    row.algorithm_bandwidth = static_cast<double>(row.bytes) / row.median;
    row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(shape.kind, communicator.size());
    return row;
}

}  // namespace baton::bench::perf
