#pragma once

#include <random>
#include <string>

namespace baton::topology {

/// A description of a machine with one to four edits of its words, numbers and lines, so that most of what comes out is
/// still read to its end: changed bytes seldom get past the parsers of XML and JSON to what Baton checks itself. Used
/// by the fuzz targets and by the test with mutated seeds.
std::string edited(std::string text, std::mt19937 &random);

}  // namespace baton::topology
