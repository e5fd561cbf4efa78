#pragma once

#include "operation.hpp"
#include "osu/harness.hpp"

namespace baton::bench::osu {

/// Times one collective call plus the wait for its stream, with an MPI barrier between calls outside the timer. The
/// figure is the mean over the ranks of each rank's mean.
std::unique_ptr<Runner> make_collective_runner(const Context &context, baton_type type, Kind kind);

}  // namespace baton::bench::osu
