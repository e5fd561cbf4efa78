#pragma once

#include <string>

#include "baton/baton.h"
#include "startup/options.hpp"
#include "util/phases.hpp"
#include "world.hpp"

namespace baton::bench::startup {

/// What one rank saw.
struct Start {
    core::Phases before;         // the process, MPI, the GPU
    core::Phases creation;       // the communicator's own account of baton_comm_create()
    core::Phases after;          // the buffers and the first collective
    double age = 0;              // seconds that the process has lived at the end of the first collective
    double call_seconds = 0;     // from the call of creation to the end of the first collective, without the buffers
    int hwloc_loads = 0;         // by Baton
    double resident_growth = 0;  // bytes, from before creation to the end
    bool right = false;          // the collective's result
    baton_info info{};
};

/// Seconds that this process has lived, to the 10 ms in which the kernel counts; 0 if unknown.
double process_age();

/// Collective, after MPI_Init. `start.before` is running.
void create_and_call(const World &world, const Options &options, Start &start);

}  // namespace baton::bench::startup
