#include "perf/measure.hpp"

#include <algorithm>

#include "perf/comparison.hpp"
#include "perf/side.hpp"

namespace baton::bench::perf {

namespace {

/// Seconds for a round's calls. 0: as many calls as --iters says, also if no call has been timed yet.
double round_seconds(const Options &options) { return options.warmup > 0 ? options.budget / options.rounds : 0; }

int own_calls(const Options &options, Mode mode, double call_seconds) {
    const double round = round_seconds(options);
    const int most = most_calls(options, mode);
    return round > 0 ? calls_for(round, call_seconds, most) : most;
}

int peer_calls(const Options &options, double call_seconds, int own) {
    const double round = round_seconds(options);
    return round > 0 ? calls_of_peer(round, call_seconds, own) : own;
}

/// A side of a row, where its timing goes, and its peer (null for Baton).
struct Entry {
    std::unique_ptr<Side> side;
    Timing *timing;
    const Peer *peer;
};

/// The sides of a row, Baton first. A peer without a result for this shape is left out.
std::vector<Entry> enter(Row &row, const Bench &bench, Mode mode, BatonLibrary &baton) {
    std::vector<Entry> entries;
    entries.push_back(
        {std::make_unique<Side>(bench.communicator, row.shape, mode, bench.verifier, baton), &row.own, nullptr});
    row.peers.resize(bench.peers.size());
    for (std::size_t i = 0; i < bench.peers.size(); ++i) {
        Peer &peer = *bench.peers[i];
        row.peers[i].absent = peer.refusal(row.shape, mode == Mode::graph);
        if (row.peers[i].absent.empty()) {
            entries.push_back({std::make_unique<Side>(bench.communicator, row.shape, mode, peer.verifier(), peer),
                               &row.peers[i], &peer});
        }
    }
    return entries;
}

/// Host costs are measured of eager calls that return before they are complete: Baton's and NCCL's.
bool has_host_cost(const Bench &bench, Mode mode, const Peer *peer) {
    return !bench.options.against.empty() && mode == Mode::eager && bench.communicator.on_gpu() &&
           (peer == nullptr || peer->kind() != PeerKind::mpi);
}

/// Makes untimed calls, which decide how many timed ones there are.
void warm_up(std::vector<Entry> &entries, const Bench &bench, Mode mode) {
    int own = 0;
    for (Entry &entry : entries) {
        const double seconds = entry.side->warm_up(bench.options.warmup);
        const bool is_baton = entry.peer == nullptr;
        const int calls = is_baton ? own_calls(bench.options, mode, seconds) : peer_calls(bench.options, seconds, own);
        own = is_baton ? calls : own;
        if (has_host_cost(bench, mode, entry.peer)) {
            entry.side->measure_host_cost(calls);
        }
        entry.side->set_calls(calls);
    }
}

}  // namespace

void compare(Row &row, const Limits &limits, int ranks) {
    std::vector<PeerTime> times;
    for (const Timing &peer : row.peers) {
        const bool counts = peer.absent.empty() && peer.wrong == 0 && !peer.other_memory;
        times.push_back(counts ? PeerTime(peer.median) : std::nullopt);
    }
    row.best = best_of(times);
    row.ratio = row.best ? *times[*row.best] / row.own.median : 0;
    const double sent = static_cast<double>(row.bytes) * bus_factor(row.shape.kind, ranks);
    row.limit = limits.seconds(traffic_of(row.shape.kind, ranks), sent);
}

Row measure(const Bench &bench, const Shape &shape, Mode mode, const Limits &limits, BatonLibrary &baton) {
    Row row;
    row.shape = shape;
    row.bytes = table_bytes(shape, bench.communicator.size());
    std::vector<Entry> entries = enter(row, bench, mode, baton);
    row.explanation = entries.front().side->explain();
    warm_up(entries, bench, mode);
    for (int round = 0; round < bench.options.rounds; ++round) {
        for (const std::size_t index : round_order(entries.size(), round)) {
            Side &side = *entries[index].side;
            if (bench.options.check) {
                side.run_checked_round();
            } else {
                side.run_round();
            }
        }
    }
    for (Entry &entry : entries) {
        if (bench.options.check) {
            entry.side->check_single_calls();
        }
        *entry.timing = entry.side->finish();
        entry.timing->other_memory =
            entry.peer != nullptr && entry.peer->memory_space() != bench.communicator.memory_space();
    }
    row.algorithm_bandwidth = static_cast<double>(row.bytes) / row.own.median;
    row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(shape.kind, bench.communicator.size());
    compare(row, limits, bench.communicator.size());
    return row;
}

}  // namespace baton::bench::perf
