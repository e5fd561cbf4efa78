#pragma once

#include <optional>
#include <string>

namespace baton::bench {

/// Finds the option that was given an empty value, as by an unset shell variable: returns "--from" for `--from ""` and
/// `--from=`. Programs refuse it, since CLI11 takes the option as one without a value.
std::optional<std::string> option_with_empty_value(int argc, const char *const *argv);

}  // namespace baton::bench
