#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "atomic_file.hpp"
#include "perf/measure.hpp"
#include "perf/run_info.hpp"

namespace baton::bench::perf {

/// Prints tables as they grow (on rank 0) and keeps everything for the JSON file.
class Report {
public:
    /// Throws Error if the JSON file cannot be written: before the work, not after it. Collective.
    Report(const Options &options, const Communicator &communicator, const Peers &peers);

    void limits(Mode mode, const Limits &limits);
    /// `not_registered`: why registered memory is plain memory here; empty otherwise.
    void begin_table(TableKey key, const std::string &not_registered);
    void add(const Row &row);
    void end_table();
    /// A table or row that could not be measured, and why.
    void note(const std::string &text);
    /// The memory that Baton holds, the verdict line and the JSON file. Throws Error if the file cannot be written.
    /// Collective.
    void finish();

    /// Whether something was measured, and every element of Baton and the peers was right.
    bool good() const { return rows_ > 0 && wrong_ == 0 && peers_wrong_ == 0; }

private:
    void line(const std::string &text) const;
    /// "push by kernel, 32 channels [2]": the reason is said once, below the table.
    std::string plan_column(const std::string &explanation);
    void note_peers(const Row &row);

    const Options &options_;
    const Communicator &communicator_;
    const bool prints_;
    std::vector<PeerKind> peers_;
    std::vector<std::string> reasons_;   // of the plans in this table, each said once
    std::vector<std::string> refusals_;  // of peers, likewise
    std::uint64_t wrong_ = 0;
    std::uint64_t peers_wrong_ = 0;
    std::size_t rows_ = 0;
    std::vector<double> bandwidths_;  // of this table
    std::vector<double> ratios_;
    nlohmann::ordered_json json_;
    std::optional<AtomicFile> file_;
};

}  // namespace baton::bench::perf
