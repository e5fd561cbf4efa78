#pragma once

#include <optional>
#include <string>
#include <vector>

namespace baton::topology {

struct Options {
    std::string from;           ///< empty: this machine
    std::string override_file;  ///< empty: none
    bool measure = false;
    std::vector<std::string> show;            ///< parts of the text, in their usual order; empty: no text
    std::string svg, png, json, advice, xml;  ///< files to write, "-" for the standard output, empty for none

    std::vector<std::string> outputs() const { return {svg, png, json, advice, xml}; }
};

/// Empty where the program shall end with `exit_code`: after --help, or a message about wrong usage. Messages go out if
/// `print`.
std::optional<Options> parse_options(int argc, char **argv, bool print, int &exit_code);

}  // namespace baton::topology
