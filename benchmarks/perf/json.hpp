#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "perf/measure.hpp"
#include "perf/run_info.hpp"

namespace baton::bench::perf {

// The shapes of the results file; `plot` reads it. Times are in microseconds, bandwidths in 10^9 bytes a second.

/// The text of the file. What is not UTF-8 in the command line is replaced.
std::string text_of(const nlohmann::ordered_json &json);

/// Everything but limits, tables and the verdict.
nlohmann::ordered_json to_json(const RunInfo &run, const Options &options, const baton_info &info, const Peers &peers);
nlohmann::ordered_json to_json(const Limits &limits);
/// Without rows.
nlohmann::ordered_json to_json(const TableKey &key, bool comparison, int ranks);
/// `peers`: their kinds, in the row's order.
nlohmann::ordered_json to_json(const Row &row, const std::vector<PeerKind> &peers, int ranks);

}  // namespace baton::bench::perf
