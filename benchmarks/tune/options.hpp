#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "environment.hpp"

namespace baton::bench::tune {

struct Options {
    std::vector<baton_operation> operations;
    std::size_t max_bytes = 0;  // 0: the default of the memory space
    int rounds = 7;
    double budget = 0.05;  // seconds that the timed calls of a candidate may take at one size
    double noise = 0.02;   // a choice that is slower by at most this part is as good
    bool graph = false;
    bool dry_run = false;
    std::string file;  // empty: the user's
    std::string json;
    Device device = Device::automatic;
};

/// Throws Ended as parse_with() does (command_line.hpp).
Options parse_options(int argc, char **argv, bool print);

}  // namespace baton::bench::tune
