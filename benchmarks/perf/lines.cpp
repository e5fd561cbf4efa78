#include "perf/lines.hpp"

#include <fmt/format.h>

namespace baton::bench::perf {

namespace {

constexpr int peer_width = 11;

const char *op_column(const Row &row) { return has_reduction(row.shape.kind) ? baton_op_name(row.shape.op) : "none"; }

std::string wrong_column(const Row &row, bool checked) { return checked ? std::to_string(row.own.wrong) : "N/A"; }

std::string microseconds(double seconds) { return seconds > 0 ? fmt::format("{:.2f}", seconds * 1e6) : "-"; }

/// A wrong result shows its time, but has no part in the comparison.
std::string peer_column(const Timing &peer) {
    return peer.absent.empty() ? microseconds(peer.median) + (peer.wrong > 0 ? "!" : "") : "-";
}

std::string ratio(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }

}  // namespace

std::string title(const TableKey &key, const Options &options) {
    std::string text = fmt::format("{}: ", kind_name(key.kind));
    if (key.kind != Kind::barrier) {
        if (!options.against.empty()) {
            text += baton_type_name(key.types.front());
            text += has_reduction(key.kind) ? fmt::format(" {}, ", baton_op_name(key.ops.front())) : ", ";
        }
        text += fmt::format("{}, {} memory, ", key.in_place == InPlaceForm::no ? "out of place" : "in place",
                            memory_name(key.memory));
    }
    return text + fmt::format("{}, {} round{} of up to {} calls", mode_name(key.mode), options.rounds,
                              options.rounds == 1 ? "" : "s", most_calls(options, key.mode));
}

std::vector<std::string> plain_heads() {
    return {fmt::format("#{:>11}{:>12}{:>14}{:>6}{:>11}{:>11}{:>9}{:>9}{:>8}  {}", "size", "count", "type", "redop",
                        "time", "p99", "algbw", "busbw", "#wrong", "plan"),
            fmt::format("#{:>11}{:>12}{:>14}{:>6}{:>11}{:>11}{:>9}{:>9}", "(B)", "(elements)", "", "", "(us)", "(us)",
                        "(GB/s)", "(GB/s)")};
}

std::string plain_line(const Row &row, const std::string &plan, bool checked) {
    return fmt::format(" {:>11}{:>12}{:>14}{:>6}{:>11.2f}{:>11.2f}{:>9.2f}{:>9.2f}{:>8}  {}", row.bytes,
                       row.shape.count, row.shape.kind == Kind::barrier ? "none" : baton_type_name(row.shape.type),
                       op_column(row), row.own.median * 1e6, row.own.p99 * 1e6, row.algorithm_bandwidth / 1e9,
                       row.bus_bandwidth / 1e9, wrong_column(row, checked), plan);
}

std::vector<std::string> comparison_heads(const std::vector<PeerKind> &peers) {
    std::string names = fmt::format("#{:>11}{:>11}{:>11}", "size", "baton", "p99");
    std::string units = fmt::format("#{:>11}{:>11}{:>11}", "(B)", "(us)", "(us)");
    for (const PeerKind peer : peers) {
        names += fmt::format("{:>{}}", peer_label(peer), peer_width);
        units += fmt::format("{:>{}}", "(us)", peer_width);
    }
    names += fmt::format("{:>8}{:>7}{:>8}{:>8}{:>8}  {}", "ratio", "wire", "busbw", "host", "#wrong", "plan");
    units += fmt::format("{:>8}{:>7}{:>8}{:>8}", "", "", "(GB/s)", "(us)");
    return {names, units};
}

std::string comparison_line(const Row &row, const std::string &plan, bool checked) {
    std::string text = fmt::format(" {:>11}{:>11.2f}{:>11.2f}", row.bytes, row.own.median * 1e6, row.own.p99 * 1e6);
    for (const Timing &peer : row.peers) {
        text += fmt::format("{:>{}}", peer_column(peer), peer_width);
    }
    return text + fmt::format("{:>8}{:>7}{:>8.2f}{:>8}{:>8}  {}", ratio(row.ratio), ratio(row.limit / row.own.median),
                              row.bus_bandwidth / 1e9, microseconds(row.own.host), wrong_column(row, checked), plan);
}

}  // namespace baton::bench::perf
