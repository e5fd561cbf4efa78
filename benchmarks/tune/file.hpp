#pragma once

#include <string>
#include <vector>

#include "collectives/tuning.hpp"

namespace baton::bench::tune {

/// Where the result goes: `asked_for`, else the file that BATON_TUNING names, else the user's. Throws if there is none.
std::string file_to_write(const std::string &asked_for);

/// BATON_TUNING; "none" if it names a file that does not exist yet.
const char *tuning_in_force();
/// Whether Baton reads the file at `path` here.
bool is_read(const std::string &path);

/// Makes the folder of the user's tuning file, if `path` is that file. Other folders are left to the user.
void make_user_folder(const std::string &path);

/// The tables of a tuning file. None if there is no file, or for a pipe or a device, which are only written to: reading
/// would wait for what this process is to write. Throws if it is not a tuning file.
std::vector<core::TuningTable> tables_of(const std::string &path);

/// What decides for this key's communicators when Baton reads the file at `path`: its table, that of the file which
/// Baton reads now, and the nearest built-in one.
core::Tuning tuning_before(const std::string &path, const core::TuningKey &key);

/// `tables` with the measured operations in place of those of the same key; all else is kept.
std::vector<core::TuningTable> merged(std::vector<core::TuningTable> tables, const core::TuningTable &measured);

}  // namespace baton::bench::tune
