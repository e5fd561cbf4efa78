#pragma once

#include <functional>

#include "world.hpp"

namespace baton::bench {

/// Thrown on all ranks where a program has no more to do, and all that there is to say has been printed.
struct Ended {
    int exit_code;
};

/// MPI_Init. What is printed to a stream that was closed before does not get lost, it fails.
void start_mpi(int &argc, char **&argv);

/// From after start_mpi(): body, MPI_Finalize; returns the largest of the ranks' exit codes, at least 2 where what was
/// printed could not be written. An exception other than Ended and Refusal is printed with the rank and ends all ranks
/// by MPI_Abort, because the others may wait for this one.
int run_started(int argc, char **argv, const std::function<int(const World &)> &body);
/// start_mpi() too.
int run_benchmark(int argc, char **argv, const std::function<int(const World &)> &body);

/// The exit code will be 1 at least: what a destructor has to say.
void fail_at_end();

/// Whether all that was printed so far could be written.
bool output_is_written();

}  // namespace baton::bench
