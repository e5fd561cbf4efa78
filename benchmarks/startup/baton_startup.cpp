#include <mpi.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "atomic_file.hpp"
#include "startup/report.hpp"
#include "topology/discover.hpp"
#include "world.hpp"

namespace {

using namespace baton::bench::startup;

int run(int argc, char **argv, Start &start) {
    const baton::bench::World world;
    world.require_same_arguments(argc, argv);
    int exit_code = 0;
    const auto options = parse_options(argc, argv, world.rank() == 0, exit_code);
    if (!options) {
        return exit_code;
    }
    std::optional<baton::bench::AtomicFile> json;
    world.on_rank_0([&] {
        if (!options->json.empty()) {
            json.emplace(options->json);
        }
    });
    create_and_call(world, *options, start);
    const Report report = gather(start);
    const bool in_time = options->limit == 0 || report.call.max <= options->limit;
    if (world.rank() == 0) {
        std::printf("%s", table(report).c_str());
        if (!in_time) {
            std::printf("# slower than the limit of %g s\n", options->limit);
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
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int result = 1;
    try {
        result = baton::bench::with_output_written(run(argc, argv, start));
    } catch (const baton::bench::Refusal &error) {
        result = error.exit_code();
        if (rank == 0) {
            std::fprintf(stderr, "%s\n", error.what());
        }
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, baton::bench::exit_code_of(error));
    }
    result = baton::bench::worst_of_all_ranks(result);
    MPI_Finalize();
    return result;
}
