#include <mpi.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "atomic_file.hpp"
#include "environment.hpp"
#include "startup/report.hpp"

namespace {

using namespace baton::bench::startup;

int run(int argc, char **argv, Start &start) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int exit_code = 0;
    const auto options = parse_options(argc, argv, rank == 0, exit_code);
    if (!options) {
        return exit_code;
    }
    std::optional<baton::bench::AtomicFile> json;
    if (rank == 0 && !options->json.empty()) {
        json.emplace(options->json);
    }
    create_and_call(*options, start);
    const Report report = gather(start);
    const bool in_time = options->limit == 0 || report.call.max <= options->limit;
    if (rank == 0) {
        std::printf("%s", table(report).c_str());
        if (!in_time) {
            std::printf("# slower than the limit of %g s\n", options->limit);
        }
        if (json) {
            json->write(to_json(report).dump(2) + "\n");
        }
    }
    return report.right && in_time ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) {
    Start start;
    start.before.add("process", process_age());
    start.before.begin("MPI_Init");
    MPI_Init(&argc, &argv);
    int result = 1;
    try {
        result = run(argc, argv, start);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, baton::bench::exit_code_of(error));
    }
    MPI_Finalize();
    return result;
}
