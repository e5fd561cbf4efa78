#pragma once

#include <string>

#include "devices.hpp"

namespace baton::bench::startup {

struct Options {
    Device device = Device::automatic;
    std::string json;  // file; empty: none
    double limit = 0;  // seconds from the call of creation to the end of the first collective; 0: none
};

/// Throws Ended as parse_with() does (command_line.hpp).
Options parse_options(int argc, char **argv, bool print);

}  // namespace baton::bench::startup
