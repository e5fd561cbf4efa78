#pragma once

#include <string>

#include "osu/harness.hpp"

namespace baton::bench::osu {

// Text in the form of the OSU micro-benchmarks 7: size in 10 columns, figures in 18 with two digits, so that their
// parsers read it.

std::string title_line(const Test &test, MemorySpace memory_space);
/// The lines above the rows of a type, column names last.
std::string type_header(const Test &test, const Options &options, baton_type type);
std::string row(const Test &test, const Options &options, const Measurement &measurement);

}  // namespace baton::bench::osu
