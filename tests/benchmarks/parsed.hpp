#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "program.hpp"

namespace baton::bench {

/// What a tool makes of its command line, and what it says of it on stderr.
template <class Options>
struct Parsed {
    std::optional<Options> options;
    int exit_code = 0;
    std::string errors;
};

/// arguments[0] is the program's name.
template <class Options>
Parsed<Options> parsed_by(Options (*parse_options)(int, char **, bool), std::vector<std::string> arguments) {
    std::vector<char *> pointers;
    for (std::string &argument : arguments) {
        pointers.push_back(argument.data());
    }
    Parsed<Options> parsed;
    testing::internal::CaptureStderr();
    try {
        parsed.options = parse_options(static_cast<int>(pointers.size()), pointers.data(), true);
    } catch (const Ended &ended) {
        parsed.exit_code = ended.exit_code;
    }
    parsed.errors = testing::internal::GetCapturedStderr();
    return parsed;
}

}  // namespace baton::bench
