#include <cstdio>
#include <optional>

#include "atomic_file.hpp"
#include "program.hpp"
#include "startup/report.hpp"
#include "topology/discover.hpp"

namespace {

using namespace baton::bench::startup;

int run(const baton::bench::World &world, int argc, char **argv, Start &start) {
    const Options options = parse_options(argc, argv, world.rank() == 0);
    std::optional<baton::bench::AtomicFile> json;
    world.on_rank_0([&] {
        if (!options.json.empty()) {
            json.emplace(options.json);
        }
    });
    create_and_call(world, options, start);
    const Report report = gather(start);
    const bool in_time = options.limit == 0 || report.call.max <= options.limit;
    if (world.rank() == 0) {
        std::printf("%s", table(report).c_str());
        if (!in_time) {
            std::printf("# slower than the limit of %g s\n", options.limit);
        }
    }
    world.on_rank_0([&] {
        if (json) {
            json->write(to_json(report, baton::bench::versions_on(baton::topology::discover())).dump(2) + "\n");
        }
    });
    return report.right && in_time ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    Start start;
    start.before.add("process", process_age());
    start.before.begin("MPI_Init");
    baton::bench::start_mpi(argc, argv);
    start.before.begin("options");
    return baton::bench::run_started(argc, argv,
                                     [&](const baton::bench::World &world) { return run(world, argc, argv, start); });
}
