#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "perf/measure.hpp"

namespace baton::bench::perf {

/// The lines that say what ran where: versions, ranks, transport, GPUs and links. No host name, no date. Collective;
/// the lines are on rank 0.
std::vector<std::string> describe_run(const Communicator &communicator);

/// Prints tables as they grow (on rank 0) and keeps everything for the JSON file.
class Report {
public:
    /// Throws Error if the JSON file cannot be written: before the work, not after it.
    Report(const Options &options, const Communicator &communicator);

    void begin_table(const TableKey &key);
    void add(const Row &row);
    void end_table();
    /// A table or row that could not be measured, and why.
    void note(const std::string &text);
    /// The verdict line and the JSON file. Throws Error if the file cannot be written.
    void finish();

    std::uint64_t wrong() const { return wrong_; }

private:
    void line(const std::string &text) const;

    const Options &options_;
    const bool prints_;
    std::uint64_t wrong_ = 0;
    std::size_t rows_ = 0;
    std::vector<double> table_bandwidths_;
    nlohmann::ordered_json json_;
    std::ofstream file_;
};

}  // namespace baton::bench::perf
