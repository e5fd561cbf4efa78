#pragma once

#include <string>
#include <vector>

#include "perf/measure.hpp"

namespace baton::bench::perf {

// The lines of the tables, as text. `plan`: the last column.

std::string title(const TableKey &key, const Options &options);

std::vector<std::string> plain_heads();
std::string plain_line(const Row &row, const std::string &plan, bool checked);

std::vector<std::string> comparison_heads(const std::vector<PeerKind> &peers);
std::string comparison_line(const Row &row, const std::string &plan, bool checked);

}  // namespace baton::bench::perf
