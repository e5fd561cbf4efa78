#include "perf/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "names.hpp"
#include "perf/comparison.hpp"
#include "perf/json.hpp"
#include "perf/lines.hpp"

namespace baton::bench::perf {

Report::Report(const Options &options, const Communicator &communicator, const Peers &peers)
    : options_(options), communicator_(communicator), prints_(communicator.rank() == 0) {
    communicator.world().on_rank_0([&] {
        if (!options.json.empty()) {
            file_.emplace(options.json);
        }
    });
    for (const auto &peer : peers.present) {
        peers_.push_back(peer->kind());
    }
    const RunInfo run = describe_run(communicator, peers);
    for (const std::string &text : run.lines) {
        note(text);
    }
    if (!options.check) {
        note("NOT VERIFIED (--no-check): nobody has looked at the results");
    }
    json_ = to_json(run, options, communicator.info(), peers);
}

void Report::line(const std::string &text) const {
    if (prints_) {
        std::printf("%s\n", text.c_str());
        std::fflush(stdout);
    }
}

void Report::note(const std::string &text) { line("# " + text); }

void Report::limits(Mode mode, const Limits &limits) {
    for (const std::string &text : limits.how) {
        note(fmt::format("{}: {}", mode_name(mode), text));
    }
    json_["limits"][mode_name(mode)] = to_json(limits);
}

void Report::begin_table(TableKey key, const std::string &not_registered) {
    const bool comparison = !options_.against.empty();
    if (!not_registered.empty()) {
        key.memory = Memory::malloc;
    }
    line("");
    note(title(key, options_));
    if (!not_registered.empty()) {
        note("not registered, so this is malloc memory: " + not_registered);
    }
    for (const std::string &head : comparison ? comparison_heads(peers_) : plain_heads()) {
        line(head);
    }
    json_["tables"].push_back(to_json(key, comparison, communicator_.size()));
    if (!not_registered.empty()) {
        json_["tables"].back()["not_registered"] = not_registered;
    }
    bandwidths_.clear();
    ratios_.clear();
    reasons_.clear();
    refusals_.clear();
}

std::string Report::plan_column(const std::string &explanation) {
    const std::string first_line = explanation.substr(0, explanation.find('\n'));
    const std::size_t colon = first_line.find(": ");
    if (colon == std::string::npos) return first_line;
    const std::string reason = first_line.substr(colon + 2);
    auto at = std::find(reasons_.begin(), reasons_.end(), reason);
    if (at == reasons_.end()) at = reasons_.insert(at, reason);
    return fmt::format("{} [{}]", first_line.substr(0, colon), at - reasons_.begin() + 1);
}

void Report::add(const Row &row) {
    const std::string plan = plan_column(row.explanation);
    line(options_.against.empty() ? plain_line(row, plan, options_.check) : comparison_line(row, plan, options_.check));
    if (options_.explain) {
        for (const std::string &text : split(row.explanation, '\n')) {
            note("    " + text);
        }
    }
    note_peers(row);
    json_["tables"].back()["rows"].push_back(to_json(row, peers_, communicator_.size()));
    bandwidths_.push_back(row.bus_bandwidth / 1e9);
    if (row.ratio > 0) {
        ratios_.push_back(row.ratio);
    }
    wrong_ += row.own.wrong;
    ++rows_;
}

void Report::note_peers(const Row &row) {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
        const Timing &timing = row.peers[peer];
        if (timing.wrong > 0) {
            note(fmt::format("{}: {} WRONG elements", peer_name(peers_[peer]), timing.wrong));
        }
        peers_wrong_ += timing.wrong;
        const std::string refusal = fmt::format("{}: {}", peer_name(peers_[peer]), timing.absent);
        if (!timing.absent.empty() && std::count(refusals_.begin(), refusals_.end(), refusal) == 0) {
            refusals_.push_back(refusal);
        }
    }
}

void Report::end_table() {
    for (std::size_t index = 0; index < reasons_.size(); ++index) {
        note(fmt::format("[{}] {}", index + 1, reasons_[index]));
    }
    for (const std::string &refusal : refusals_) {
        note(refusal);
    }
    if (!options_.against.empty()) {
        const double mean = geometric_mean(ratios_);
        note(ratios_.empty() ? "no ratio: no peer takes part in this, or none has a right result on such memory"
                             : fmt::format("ratio: geometric mean {:.2f}, smallest {:.2f}, over {} size{}", mean,
                                           *std::min_element(ratios_.begin(), ratios_.end()), ratios_.size(),
                                           ratios_.size() == 1 ? "" : "s"));
        if (!ratios_.empty()) {
            json_["tables"].back()["geometric_mean_ratio"] = mean;
        }
    } else if (bandwidths_.size() > 1) {
        const double best = *std::max_element(bandwidths_.begin(), bandwidths_.end());
        const double sum = std::accumulate(bandwidths_.begin(), bandwidths_.end(), 0.0);
        note(fmt::format("busbw: largest {:.2f} GB/s, mean of the rows {:.2f} GB/s", best,
                         sum / static_cast<double>(bandwidths_.size())));
    }
}

void Report::finish() {
    baton_info info{};
    info.struct_size = sizeof(info);
    check(baton_comm_info(communicator_.handle(), &info));
    const double device = communicator_.world().max(static_cast<double>(info.device_bytes));
    const double host = communicator_.world().max(static_cast<double>(info.host_bytes));
    constexpr double mebibyte = 1 << 20;
    line("");
    note(fmt::format("Baton's own memory, the most of a rank: {:.1f} MiB on the device, {:.1f} MiB on the host",
                     device / mebibyte, host / mebibyte));
    const std::string rows = fmt::format("{} row{}", rows_, rows_ == 1 ? "" : "s");
    if (rows_ == 0) {
        note("nothing was measured: " + why_nothing(options_, communicator_.memory_space()));
    } else if (!options_.check) {
        note(rows + ", not verified");
    } else {
        note(fmt::format(
            "{} verified: {}", rows,
            wrong_ == 0 ? "every element of every rank is right" : fmt::format("{} WRONG elements", wrong_)));
    }
    if (peers_wrong_ > 0) {
        note(fmt::format("{} WRONG elements of others, whose times have no part in the ratios", peers_wrong_));
    }
    json_["device_bytes"] = device;
    json_["host_bytes"] = host;
    json_["wrong"] = wrong_;
    json_["peers_wrong"] = peers_wrong_;
    communicator_.world().on_rank_0([&] {
        if (file_) {
            file_->write(text_of(json_));
        }
    });
}

}  // namespace baton::bench::perf
