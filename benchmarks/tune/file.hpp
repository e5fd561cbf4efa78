#pragma once

#include <string>
#include <vector>

#include "collectives/tuning.hpp"

namespace baton::bench::tune {

/// Where the result goes: `asked_for`, else the file that BATON_TUNING names, else that of the user. Throws where there
/// is none.
std::string file_to_write(const std::string &asked_for);

/// The tables of a tuning file; none where there is no file. Throws where it is not one.
std::vector<core::TuningTable> tables_of(const std::string &path);

/// With the measured operations in the place of those of the same key, and all else kept.
std::vector<core::TuningTable> merged(std::vector<core::TuningTable> tables, const core::TuningTable &measured);

}  // namespace baton::bench::tune
