#pragma once

#include <random>
#include <string>

namespace baton::topology {

/// Returns a machine's description with one to four edits of its words, numbers and lines. Most results are still read
/// to their end; changed bytes seldom get past the parsers of XML and JSON to what Baton checks itself. Used by the
/// fuzz targets and by the test with mutated seeds.
std::string edited(std::string text, std::mt19937 &random);

}  // namespace baton::topology
