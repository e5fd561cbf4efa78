#include "program.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>

namespace baton::bench {

namespace {

int least_exit_code = 0;

/// The largest exit code of all ranks. The last thing before MPI_Finalize.
int worst_of_all_ranks(int exit_code) {
    int worst = 0;
    MPI_Allreduce(&exit_code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

/// Returns at least 2, after a message, if what was printed could not be written.
int with_output_written(int exit_code) {
    if (output_is_written()) {
        return exit_code;
    }
    std::fprintf(stderr, "%s: cannot write to the standard output\n", program_invocation_short_name);
    return std::max(exit_code, 2);
}

}  // namespace

void start_mpi(int &argc, char **&argv) {
    // Otherwise a pipe of MPI's could get the number of a closed stream, and with it what is printed.
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) < 0) {
            open("/dev/null", O_RDONLY);
        }
    }
    MPI_Init(&argc, &argv);
}

int run_started(int argc, char **argv, const std::function<int(const World &)> &body) {
    int mine = 1;
    const World world;
    try {
        world.require_same_arguments(argc, argv);
        mine = body(world);
    } catch (const Ended &ended) {
        mine = ended.exit_code;
    } catch (const Refusal &error) {
        mine = error.exit_code();
        if (world.rank() == 0) {
            std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, error.what());
        }
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "rank %d: %s\n", world.rank(), error.what());
        MPI_Abort(MPI_COMM_WORLD, exit_code_of(error));
    }
    const int worst = worst_of_all_ranks(with_output_written(std::max(mine, least_exit_code)));
    MPI_Finalize();
    return worst;
}

int run_benchmark(int argc, char **argv, const std::function<int(const World &)> &body) {
    start_mpi(argc, argv);
    return run_started(argc, argv, body);
}

void fail_at_end() { least_exit_code = 1; }

bool output_is_written() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace baton::bench
