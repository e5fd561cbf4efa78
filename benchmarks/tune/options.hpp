#pragma once

#include <cstddef>
#include <optional>
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
    double noise = 0.02;   // a choice that is slower by no more than this part is as good
    bool graph = false;
    bool dry_run = false;
    std::string file;  // empty: that of the user
    std::string json;
    Device device = Device::automatic;
};

/// Nothing where the text was asked for or the arguments are wrong: then it has been printed (on rank 0), and exit_code
/// says which: 0, or 2.
std::optional<Options> parse_options(int argc, char **argv, bool print, int &exit_code);

}  // namespace baton::bench::tune
