#include "perf/json.hpp"

#include <algorithm>
#include <cmath>

namespace baton::bench::perf {

using Json = nlohmann::ordered_json;

namespace {

/// Rounded to the nanosecond, which is finer than clocks tell.
std::vector<double> microseconds(const std::vector<double> &seconds) {
    std::vector<double> values;
    for (const double one : seconds) {
        values.push_back(std::round(one * 1e9) / 1e3);
    }
    return values;
}

void add_timing(Json &json, const Timing &timing) {
    json["calls_per_round"] = timing.calls;
    json["median_us"] = timing.median * 1e6;
    json["p99_us"] = timing.p99 * 1e6;
    json["min_us"] = *std::min_element(timing.times.begin(), timing.times.end()) * 1e6;
    json["max_us"] = *std::max_element(timing.times.begin(), timing.times.end()) * 1e6;
    json["rounds_us"] = microseconds(timing.times);
    if (timing.host > 0) {
        json["host_us"] = timing.host * 1e6;
    }
    json["wrong"] = timing.wrong;
}

Json peer_json(PeerKind kind, const Timing &timing) {
    Json json;
    json["name"] = peer_name(kind);
    if (timing.absent.empty()) {
        add_timing(json, timing);
    } else {
        json["absent"] = timing.absent;
    }
    return json;
}

}  // namespace

std::string text_of(const Json &json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // the command line need not be UTF-8
}

Json to_json(const RunInfo &run, const Options &options, const baton_info &info, const Peers &peers) {
    Json json;
    json["baton_perf"] = run.versions.baton;
    json["date"] = run.date;
    json["command"] = options.command;
    json["environment"] = run.environment;
    json["run"] = run.lines;
    json["versions"] = bench::to_json(run.versions);
    json["gpus"] = run.gpus;
    json["ranks"] = info.size;
    json["processors_of_a_rank"] = run.processors_of_a_rank;
    json["on_gpu"] = info.on_gpu != 0;
    json["rounds"] = options.rounds;
    json["most_calls_per_round"] = {{"eager", options.iterations}, {"graph", options.graph_iterations}};
    json["warmup"] = options.warmup;
    json["budget_s"] = options.budget;
    json["checked"] = options.check;
    if (!options.against.empty()) {
        json["peers"] = Json::array();
        for (const auto &peer : peers.present) {
            json["peers"].push_back({{"name", peer_name(peer->kind())}, {"label", peer_label(peer->kind())}});
        }
        for (const Peers::Absence &absence : peers.absent) {
            json["peers"].push_back(
                {{"name", peer_name(absence.kind)}, {"label", peer_label(absence.kind)}, {"absent", absence.reason}});
        }
        json["mpi_memory"] = peers.mpi_memory;
        json["limits"] = Json::object();
    }
    json["tables"] = Json::array();
    return json;
}

Json to_json(const Limits &limits) {
    Json json;
    json["how"] = limits.how;
    json["launch_us"] = limits.launch * 1e6;
    json["launch_host_us"] = limits.launch_host * 1e6;
    json["flight_us"] = limits.flight * 1e6;
    json["latency_us"] = limits.latency() * 1e6;
    for (const auto &[traffic, measured] : limits.copies) {
        for (const Limits::Copies &copies : measured) {
            json["copies"][traffic_name(traffic)].push_back(
                {{"bytes", copies.bytes}, {"GBps", copies.bandwidth / 1e9}});
        }
    }
    return json;
}

Json to_json(const TableKey &key, bool comparison, int ranks) {
    Json json;
    json["operation"] = kind_name(key.kind);
    json["mode"] = mode_name(key.mode);
    json["in_place"] = key.in_place != InPlaceForm::no;
    json["memory"] = memory_name(key.memory);
    if (comparison) {
        json["type"] = baton_type_name(key.types.front());
        json["redop"] = has_reduction(key.kind) ? baton_op_name(key.ops.front()) : "none";
        json["traffic"] = traffic_name(traffic_of(key.kind, ranks));
    }
    json["rows"] = Json::array();
    return json;
}

Json to_json(const Row &row, const std::vector<PeerKind> &peers, int ranks) {
    Json json;
    json["bytes"] = row.bytes;
    json["count"] = row.shape.count;
    json["type"] = baton_type_name(row.shape.type);
    json["redop"] = has_reduction(row.shape.kind) ? baton_op_name(row.shape.op) : "none";
    add_timing(json, row.own);
    json["algbw_GBps"] = row.algorithm_bandwidth / 1e9;
    json["busbw_GBps"] = row.bus_bandwidth / 1e9;
    json["explanation"] = row.explanation;
    json["sent_bytes"] = static_cast<double>(row.bytes) * bus_factor(row.shape.kind, ranks);
    if (row.limit > 0) {
        json["limit_us"] = row.limit * 1e6;
        json["wire"] = row.limit / row.own.median;
    }
    if (row.best) {
        json["best"] = peer_name(peers[*row.best]);
        json["ratio"] = row.ratio;
    }
    if (!peers.empty()) {
        json["peers"] = Json::array();
        for (std::size_t peer = 0; peer < peers.size(); ++peer) {
            json["peers"].push_back(peer_json(peers[peer], row.peers[peer]));
        }
    }
    return json;
}

}  // namespace baton::bench::perf
