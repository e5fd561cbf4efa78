#pragma once

#include <string>
#include <vector>

#include "collectives/tuning.hpp"

namespace baton::bench::tune {

/// Where the result goes: `asked_for`, else the file that BATON_TUNING names, else that of the user. Throws where there
/// is none.
std::string file_to_write(const std::string &asked_for);

/// BATON_TUNING; "none" where it names a file that is yet to be written.
const char *tuning_in_force();
/// Whether Baton reads the file at `path` here.
bool is_read(const std::string &path);

/// Makes the folder of the user's tuning file, where `path` is that file; other folders are the caller's to make.
void make_user_folder(const std::string &path);

/// The tables of a tuning file; none where there is no file, or a pipe or a device, which are only written to: a read
/// would wait for what this process is to write. Throws where it is not one.
std::vector<core::TuningTable> tables_of(const std::string &path);

/// What runs operations of this key's communicators when the file at `path` is the one that Baton reads: its table,
/// that of the file which Baton reads now, and the compiled in one that comes closest.
core::Tuning tuning_before(const std::string &path, const core::TuningKey &key);

/// With the measured operations in the place of those of the same key, and all else kept.
std::vector<core::TuningTable> merged(std::vector<core::TuningTable> tables, const core::TuningTable &measured);

}  // namespace baton::bench::tune
