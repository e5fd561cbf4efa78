#pragma once

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

/// Throws Ended as parse_with() does (command_line.hpp).
Options parse_options(int argc, char **argv, bool print);

}  // namespace baton::topology
