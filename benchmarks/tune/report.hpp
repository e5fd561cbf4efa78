#pragma once

#include <string>
#include <vector>

#include "tune/measure.hpp"
#include "tune/options.hpp"
#include "versions.hpp"

namespace baton::bench::tune {

/// The table of an operation as lines: size by size what is in force and what was chosen, then the rows.
std::vector<std::string> report(const Measured &measured, const std::vector<core::TuningRow> &rows,
                                const std::vector<std::size_t> &chosen);

/// All times of all candidates, and how they were measured.
std::string to_json(const Options &options, const Versions &versions, const core::TuningKey &key,
                    const std::vector<Measured> &all);

}  // namespace baton::bench::tune
