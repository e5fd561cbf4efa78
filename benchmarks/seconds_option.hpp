#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

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

}  // namespace baton::bench
