#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/tuning.hpp"

/// Tuning tables as JSON: one file for many machines. docs/tuning.md describes the format.
namespace baton::core {

/// The tables of a text. Throws BATON_ERR_ARGUMENT with `origin` and the line or field that is wrong. Also checks that
/// there is a row for every size, that ways exist, and that no key has two tables.
std::vector<TuningTable> parse_tuning(const std::string &text, const std::string &origin);
/// One line per row; parse_tuning() gives the same tables again.
std::string format_tuning(const std::vector<TuningTable> &tables);

/// Throws as parse_tuning() does, and where the file cannot be read.
std::vector<TuningTable> read_tuning_file(const std::string &path);
/// What a setting stands for (baton_config.tuning): a text in this format, "none", or a file; where it is null or
/// empty, the user's file if there is one (none, with a warning, where the folder may not be searched). Throws as
/// read_tuning_file() does, with the remedy.
std::vector<TuningTable> read_tuning(const char *setting);
/// $XDG_CONFIG_HOME/baton/tuning.json or, if that is unset or no absolute path (which its specification wants ignored),
/// ~/.config/baton/tuning.json, whether or not it exists; nothing without a home folder.
std::optional<std::string> user_tuning_path();

/// The tables that Baton was compiled with.
const std::vector<TuningTable> &built_in_tables();

}  // namespace baton::core
