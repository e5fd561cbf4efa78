#pragma once

#include <optional>
#include <string>

#include "devices.hpp"

namespace baton::bench::startup {

struct Options {
    Device device = Device::automatic;
    std::string json;  // file; empty: none
    double limit = 0;  // seconds from the call of creation to the end of the first collective; 0: none
};

/// Empty where the program is to end with `exit_code`: after --help, --version or an error, printed if `print`.
std::optional<Options> parse_options(int argc, char **argv, bool print, int &exit_code);

}  // namespace baton::bench::startup
