#pragma once

#include <functional>

#include "world.hpp"

namespace baton::bench {

/// Thrown on all ranks when a program has no more to do and has printed all that there is to say.
struct Ended {
    int exit_code;
};

/// Calls MPI_Init. Printing to a standard stream that is closed fails; the text does not go elsewhere.
void start_mpi(int &argc, char **&argv);

/// Runs what follows start_mpi(): `body`, then MPI_Finalize. Returns the largest of the ranks' exit codes, at least 2
/// if what was printed could not be written. An exception other than Ended and Refusal is printed with the rank and
/// ends all ranks by MPI_Abort, because the others may wait for this one.
int run_started(int argc, char **argv, const std::function<int(const World &)> &body);
/// Calls start_mpi() and run_started().
int run_benchmark(int argc, char **argv, const std::function<int(const World &)> &body);

/// Makes the exit code at least 1, for what a destructor has to report.
void fail_at_end();

/// Whether all that was printed so far could be written.
bool output_is_written();

}  // namespace baton::bench
