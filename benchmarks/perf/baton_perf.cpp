#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "perf/measure.hpp"
#include "perf/report.hpp"
#include "perf/sweep.hpp"
#include "program.hpp"

namespace baton::bench::perf {

namespace {

/// The peers, with buffers for the largest shapes of all tables.
Peers find_peers(const Options &options, const std::vector<TableKey> &keys, const Communicator &communicator,
                 const Verifier &verifier) {
    std::vector<Shape> all;
    for (const TableKey &key : keys) {
        const std::vector<Shape> more = shapes(key, options, communicator.size());
        all.insert(all.end(), more.begin(), more.end());
    }
    return make_peers({options.against, options.nccl_library, options.mpi_max}, communicator, verifier,
                      needed(all, communicator.size()));
}

void run_table(const TableKey &key, const Bench &bench, const Limits &limits, Report &report) {
    const int ranks = bench.communicator.size();
    if (key.kind == Kind::pair && ranks < 2) {
        return report.note("pair: needs two ranks");
    }
    const std::vector<Shape> all = shapes(key, bench.options, ranks);
    if (all.empty()) {
        return report.note(fmt::format("{}: no size from {} to {} bytes holds an element per rank", kind_name(key.kind),
                                       bench.options.min_bytes, bench.options.max_bytes));
    }
    BatonLibrary baton(bench.communicator, needed(all, ranks), key.memory);
    report.begin_table(key, baton.refusal());
    for (const Shape &shape : all) {
        report.add(measure(bench, shape, key.mode, limits, baton));
    }
    report.end_table();
}

int run(const World &world, int argc, char **argv) {
    Options options = parse_options(argc, argv, world.rank() == 0);
    const MemorySpace memory_space = choose_memory_space(world, options.device);
    complete(options, memory_space);
    const Communicator communicator(world, memory_space);
    const Verifier verifier(communicator);
    const std::vector<TableKey> keys = tables(options, memory_space);
    const Peers peers = find_peers(options, keys, communicator, verifier);
    Report report(options, communicator, peers);
    if (memory_space == MemorySpace::host && std::count(options.modes.begin(), options.modes.end(), Mode::graph) > 0) {
        report.note("graph mode is left out: CUDA graphs need GPUs");
    }
    std::map<Mode, Limits> limits;
    for (const TableKey &key : keys) {
        if (!options.against.empty() && limits.count(key.mode) == 0) {
            limits[key.mode] = measure_limits(communicator, key.mode == Mode::graph);
            report.limits(key.mode, limits[key.mode]);
        }
    }
    const Bench bench{options, communicator, verifier, peers.present};
    for (const TableKey &key : keys) {
        run_table(key, bench, limits[key.mode], report);
    }
    report.finish();
    return report.good() ? 0 : 1;
}

}  // namespace

}  // namespace baton::bench::perf

int main(int argc, char **argv) {
    using namespace baton::bench;
    return run_benchmark(argc, argv, [&](const World &world) { return perf::run(world, argc, argv); });
}
