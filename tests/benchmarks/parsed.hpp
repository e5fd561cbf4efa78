#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

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
Parsed<Options> parsed_by(std::optional<Options> (*parse_options)(int, char **, bool, int &),
                          std::vector<std::string> arguments) {
    std::vector<char *> pointers;
    for (std::string &argument : arguments) {
        pointers.push_back(argument.data());
    }
    Parsed<Options> parsed;
    testing::internal::CaptureStderr();
    parsed.options = parse_options(static_cast<int>(pointers.size()), pointers.data(), true, parsed.exit_code);
    parsed.errors = testing::internal::GetCapturedStderr();
    return parsed;
}

}  // namespace baton::bench
