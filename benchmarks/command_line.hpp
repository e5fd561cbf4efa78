#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "devices.hpp"
#include "empty_value.hpp"
#include "names.hpp"
#include "program.hpp"

namespace baton::bench {

enum class Least {
    zero,
    above_zero
};

/// Checks a duration. CLI11's own check of such numbers prints the largest double with all of its digits.
inline CLI::Validator seconds_from(Least least) {
    const bool zero = least == Least::zero;
    const auto refusal = [zero](const std::string &text) -> std::string {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        if (number && (zero ? value >= 0 : value > 0)) {
            return "";
        }
        return fmt::format("takes a number {}, not \"{}\"", zero ? "from 0 on" : "above 0", text);
    };
    return CLI::Validator([refusal](std::string &text) { return refusal(text); }, zero ? "from 0 on" : "above 0");
}

/// Checks a fraction. CLI::Range lets "nan" pass.
inline CLI::Validator from_0_to_1() {
    const auto refusal = [](const std::string &text) -> std::string {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 1;
        return number ? "" : fmt::format("takes a number from 0 to 1, not \"{}\"", text);
    };
    return CLI::Validator([refusal](std::string &text) { return refusal(text); }, "from 0 to 1");
}

/// Throws where an option was given an empty value.
inline void refuse_empty_values(int argc, const char *const *argv) {
    if (const auto option = option_with_empty_value(argc, argv)) {
        throw CLI::ValidationError(*option, "the value is empty");
    }
}

/// A word of a comma list, and the values that it stands for.
template <class T>
struct Named {
    const char *name;
    std::vector<T> values;
};

/// "all, put, get"
template <class T>
std::string names_of(const std::vector<Named<T>> &known) {
    std::string names;
    for (const Named<T> &one : known) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
    }
    return names;
}

/// The values behind a comma list of names in any case, each value once.
template <class T>
std::vector<T> parse_list(const std::string &option, const std::string &text, const std::vector<Named<T>> &known) {
    std::vector<T> values;
    for (const std::string &name : split(text, ',')) {
        const auto match =
            std::find_if(known.begin(), known.end(), [&](const auto &one) { return lower(name) == one.name; });
        if (match == known.end()) {
            throw CLI::ValidationError(option, fmt::format("does not know \"{}\"; it takes {}", name, names_of(known)));
        }
        for (const T value : match->values) {
            if (std::find(values.begin(), values.end(), value) == values.end()) {
                values.push_back(value);
            }
        }
    }
    if (values.empty()) {
        throw CLI::ValidationError(option, "is empty");
    }
    return values;
}

/// A file that is to be written.
inline CLI::Validator output_file() {
    return CLI::Validator(
        [](std::string &text) -> std::string {
            return text == "-" ? "\"-\" would be a file of that name; /dev/stdout is the standard output" : "";
        },
        "");
}

inline void add_device(CLI::App &app, Device &device) {
    static const std::map<std::string, Device> devices{
        {"auto", Device::automatic}, {"cuda", Device::cuda}, {"host", Device::host}};
    app.add_option_function<std::string>(
           "--device", [&device](const std::string &name) { device = devices.at(name); },
           "Where buffers lie; auto: on GPUs where every rank has one")
        ->transform(CLI::IsMember(devices, CLI::ignore_case))
        ->default_str("auto");
}

/// Reads the command line with the options of `app` and --version, then calls `interpret`, which may throw a
/// CLI::ParseError as well. Throws Ended with 0 after --help and --version, and with 2 after an error; `print` decides
/// whether the text that belongs to it is printed.
inline void parse_with(CLI::App &app, int argc, char **argv, bool print, const std::function<void()> &interpret) {
    app.set_version_flag("--version", fmt::format("{} {}.{}.{}", app.get_name(), BATON_VERSION_MAJOR,
                                                  BATON_VERSION_MINOR, BATON_VERSION_PATCH));
    app.failure_message([](const CLI::App *failed, const CLI::Error &error) {
        return fmt::format("{}: {}", failed->get_name(), CLI::FailureMessage::simple(failed, error));
    });
    try {
        refuse_empty_values(argc, argv);
        app.parse(argc, argv);
        interpret();
    } catch (const CLI::ParseError &error) {
        std::ostringstream ignored;
        throw Ended{app.exit(error, print ? std::cout : ignored, print ? std::cerr : ignored) == 0 ? 0 : 2};
    }
}

}  // namespace baton::bench
