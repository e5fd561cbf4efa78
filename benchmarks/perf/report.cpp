#include "perf/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "gpu.hpp"
#include "names.hpp"
#include "topology/summary.hpp"

namespace baton::bench::perf {

namespace {

std::string mpi_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string version(text);
    return version.substr(0, version.find_first_of(",\n"));  // what follows names the machine that built it
}

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

const char *op_column(const Row &row) { return has_reduction(row.shape.kind) ? baton_op_name(row.shape.op) : "none"; }

nlohmann::ordered_json to_json(const Row &row) {
    nlohmann::ordered_json json;
    json["bytes"] = row.bytes;
    json["count"] = row.shape.count;
    json["type"] = baton_type_name(row.shape.type);
    json["redop"] = op_column(row);
    json["calls_per_round"] = row.iterations;
    json["median_us"] = row.median * 1e6;
    json["p99_us"] = row.p99 * 1e6;
    json["min_us"] = *std::min_element(row.times.begin(), row.times.end()) * 1e6;
    json["max_us"] = *std::max_element(row.times.begin(), row.times.end()) * 1e6;
    json["algbw_GBps"] = row.algorithm_bandwidth / 1e9;
    json["busbw_GBps"] = row.bus_bandwidth / 1e9;
    json["wrong"] = row.wrong;
    json["explanation"] = row.explanation;
    return json;
}

}  // namespace

std::vector<std::string> describe_run(const Communicator &communicator) {
    const World &world = communicator.world();
    const baton_info &info = communicator.info();
    std::string mine;
    if (communicator.on_gpu()) {
        mine = fmt::format("{}, {}", gpu::describe_device(), info.device_uuid);
        mine += info.ranks_on_device > 1 ? fmt::format(", shared by {} ranks", info.ranks_on_device) : "";
    }
    const std::vector<std::string> devices = world.gather(mine);
    if (world.rank() != 0) {
        return {};
    }
    std::vector<std::string> lines;
    lines.push_back(fmt::format("Baton {}.{}.{}; {}; {}", baton_version() / 10000, baton_version() / 100 % 100,
                                baton_version() % 100, gpu::versions(), mpi_version()));
    if (communicator.on_gpu()) {
        const char *transport = std::getenv("BATON_TRANSPORT");
        lines.push_back(fmt::format("{} ranks on GPUs; transport {}; at most {} channels; peer access {}", world.size(),
                                    transport != nullptr ? transport : "auto", info.channels,
                                    info.peer_access ? "between all pairs" : "not between all pairs"));
        for (std::size_t rank = 0; rank < devices.size(); ++rank) {
            lines.push_back(fmt::format("  rank {}: {}", rank, devices[rank]));
        }
    } else {
        lines.push_back(fmt::format("{} ranks on host memory; transport host; single copy between processes: {}",
                                    world.size(), info.single_copy ? "yes" : "no"));
    }
    for (const std::string &text : split(topology::machine_summary(), '\n')) {
        lines.push_back(text);
    }
    return lines;
}

Report::Report(const Options &options, const Communicator &communicator)
    : options_(options), prints_(communicator.rank() == 0) {
    if (prints_ && !options.json.empty()) {
        file_.open(options.json);
        if (!file_) {
            throw Error(fmt::format("cannot write {}", options.json));
        }
    }
    const std::vector<std::string> lines = describe_run(communicator);
    for (const std::string &text : lines) {
        line("# " + text);
    }
    json_["baton_perf"] = fmt::format("{}.{}.{}", BATON_VERSION_MAJOR, BATON_VERSION_MINOR, BATON_VERSION_PATCH);
    json_["run"] = lines;
    json_["ranks"] = communicator.size();
    json_["on_gpu"] = communicator.on_gpu();
    json_["rounds"] = options.rounds;
    json_["checked"] = options.check;
    json_["tables"] = nlohmann::ordered_json::array();
}

void Report::line(const std::string &text) const {
    if (prints_) {
        std::printf("%s\n", text.c_str());
        std::fflush(stdout);
    }
}

void Report::begin_table(const TableKey &key) {
    const char *place = key.in_place == InPlace::no ? "out of place" : "in place";
    const bool barrier = key.kind == Kind::barrier;
    line(fmt::format("\n# {}: {}{}, {} rounds of up to {} calls", kind_name(key.kind),
                     barrier ? std::string() : fmt::format("{}, {} memory, ", place, memory_name(key.memory)),
                     mode_name(key.mode), options_.rounds, options_.iterations));
    line(fmt::format("#{:>11}{:>12}{:>14}{:>6}{:>11}{:>11}{:>9}{:>9}{:>8}  {}", "size", "count", "type", "redop",
                     "time", "p99", "algbw", "busbw", "#wrong", "plan"));
    line(fmt::format("#{:>11}{:>12}{:>14}{:>6}{:>11}{:>11}{:>9}{:>9}", "(B)", "(elements)", "", "", "(us)", "(us)",
                     "(GB/s)", "(GB/s)"));
    nlohmann::ordered_json table;
    table["operation"] = kind_name(key.kind);
    table["mode"] = mode_name(key.mode);
    table["in_place"] = key.in_place != InPlace::no;
    table["memory"] = memory_name(key.memory);
    table["rows"] = nlohmann::ordered_json::array();
    json_["tables"].push_back(table);
    table_bandwidths_.clear();
}

void Report::add(const Row &row) {
    line(fmt::format(" {:>11}{:>12}{:>14}{:>6}{:>11.2f}{:>11.2f}{:>9.2f}{:>9.2f}{:>8}  {}", row.bytes, row.shape.count,
                     row.shape.kind == Kind::barrier ? "none" : baton_type_name(row.shape.type), op_column(row),
                     row.median * 1e6, row.p99 * 1e6, row.algorithm_bandwidth / 1e9, row.bus_bandwidth / 1e9,
                     options_.check ? std::to_string(row.wrong) : "N/A", first_line(row.explanation)));
    if (options_.explain) {
        for (const std::string &text : split(row.explanation, '\n')) {
            line("#     " + text);
        }
    }
    json_["tables"].back()["rows"].push_back(to_json(row));
    table_bandwidths_.push_back(row.bus_bandwidth / 1e9);
    wrong_ += row.wrong;
    ++rows_;
}

void Report::end_table() {
    if (table_bandwidths_.size() > 1) {
        const double best = *std::max_element(table_bandwidths_.begin(), table_bandwidths_.end());
        const double sum = std::accumulate(table_bandwidths_.begin(), table_bandwidths_.end(), 0.0);
        line(fmt::format("# busbw: largest {:.2f} GB/s, mean of the rows {:.2f} GB/s", best,
                         sum / static_cast<double>(table_bandwidths_.size())));
    }
}

void Report::note(const std::string &text) { line("# " + text); }

void Report::finish() {
    if (!options_.check) {
        line(fmt::format("\n# {} rows, not verified", rows_));
    } else {
        line(fmt::format(
            "\n# {} rows verified: {}", rows_,
            wrong_ == 0 ? "every element of every rank is right" : fmt::format("{} WRONG elements", wrong_)));
    }
    json_["wrong"] = wrong_;
    if (prints_ && !options_.json.empty()) {
        file_ << json_.dump(2) << '\n';
        file_.flush();
        if (!file_) {
            throw Error(fmt::format("cannot write {}", options_.json));
        }
    }
}

}  // namespace baton::bench::perf
