#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "empty_value.hpp"
#include "names.hpp"

namespace baton::bench {

enum class Least {
    zero,
    above_zero
};

/// A check of a duration. CLI11's own for such numbers print the largest double with all of its digits.
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

/// A part of a whole. CLI::Range lets "nan" pass.
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

/// A word of a comma list, and what it stands for.
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

}  // namespace baton::bench
