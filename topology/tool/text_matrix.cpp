#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "topology/groups.hpp"
#include "topology/names.hpp"
#include "topology/tool/table.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

/// As nvidia-smi calls GPUs.
std::string label(const Machine &machine, std::size_t index) { return fmt::format("{}{}", noun_of(machine), index); }

std::string speed_text(const Known<int> &mbps, Abbreviations &used) {
    return mbps.known() ? gbps_text(mbps.value) : used.word("?");
}

std::string p2p_text(const Pair &pair, Abbreviations &used) {
    const auto word = [&](const Known<bool> &answer) {
        return used.word(!answer.known() ? "?" : answer.value ? "yes" : "no");
    };
    return fmt::format("P2P read {}, write {}, atomics {}", word(pair.p2p_read), word(pair.p2p_write),
                       word(pair.p2p_atomics));
}

char letter(Advised advised) {
    switch (advised) {
        case Advised::none:
            return '-';
        case Advised::kernel_and_copy_engine:
            return 'k';
        case Advised::copy_engine:
            return 'c';
        case Advised::host_staging:
            return 'h';
    }
    return '?';
}

std::string letters_text(const std::set<Advised> &all) {
    constexpr std::pair<Advised, const char *> words[] = {
        {Advised::kernel_and_copy_engine, "kernels for small and copy engines for large messages"},
        {Advised::copy_engine, "copy engines"},
        {Advised::host_staging, "through host memory"}};
    std::vector<std::string> parts;
    for (const auto &[advised, meaning] : words)
        if (all.contains(advised)) parts.push_back(fmt::format("{}: {}", letter(advised), meaning));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string reason(const Machine &machine, const Pair &pair, Abbreviations &used) {
    const TransportAdvice advice = transport_of(machine, pair);
    std::string text = used.kind(pair.kind.value, pair.links);
    text += pair.nominal_mbps.known()
                ? fmt::format(", {} GB/s ({})", gbps_text(pair.nominal_mbps.value), name_of(pair.nominal_mbps.source))
                : ", bandwidth unknown";
    if (pair.hops.known() && pair.hops.value > 0)
        text += fmt::format(", {} hop{}", pair.hops.value, pair.hops.value == 1 ? "" : "s");
    text += fmt::format(": {}\n      {}", pair.why, p2p_text(pair, used));
    if (advice.transport != Advised::none)
        text += fmt::format("\n      advised {}: {}", name_of(advice.transport), advice.why);
    return text;
}

/// "0-1" for both directions where they are alike, else "0>1".
std::string reasons_text(const Machine &machine, Abbreviations &used) {
    const Graph &graph = machine.graph;
    Groups groups;
    const std::size_t n = graph.gpus;
    bool both = true;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            const std::string there = from == to ? "" : reason(machine, graph.pair(from, to), used);
            const bool alike = from != to && there == reason(machine, graph.pair(to, from), used);
            if (from == to || (alike && to < from)) continue;
            both = both && alike;
            groups.add(there, fmt::format("{}{}{}", from, alike ? '-' : '>', to));
        }
    std::string text;
    for (const auto &[what, pairs] : groups.list)
        text +=
            fmt::format("  {}\n      {}\n",
                        groups.list.size() == 1 && both ? "all pairs" : fmt::format("{}", fmt::join(pairs, " ")), what);
    return text;
}

}  // namespace

std::string matrix_text(const Machine &machine, Abbreviations &used) {
    const Snapshot &snapshot = machine.snapshot;
    const Graph &graph = machine.graph;
    const std::size_t n = snapshot.gpus.size(), nics = snapshot.nics.size();
    if (n + nics == 0) return "Neither GPUs nor NICs.\n";
    Table table;
    std::vector<std::string> head{""};
    for (std::size_t gpu = 0; gpu < n; ++gpu) head.push_back(label(machine, gpu));
    for (std::size_t nic = 0; nic < nics; ++nic) head.push_back(fmt::format("NIC{}", nic));
    head.insert(head.end(), {"CPU Affinity", "NUMA Affinity"});
    table.add(head);

    for (std::size_t gpu = 0; gpu < n; ++gpu) {
        std::vector<std::string> row{label(machine, gpu)};
        for (std::size_t to = 0; to < n; ++to)
            row.push_back(used.kind(graph.pair(gpu, to).kind.value, graph.pair(gpu, to).links));
        for (std::size_t nic = 0; nic < nics; ++nic) row.push_back(used.kind(graph.nic_path(gpu, nic).kind.value, 0));
        row.push_back(used.known(snapshot.gpus[gpu].cpuset, "N/A"));
        row.push_back(used.known(snapshot.gpus[gpu].numa_node, "N/A"));
        table.add(std::move(row));
    }
    for (std::size_t nic = 0; nic < nics; ++nic) {
        std::vector<std::string> row{fmt::format("NIC{}", nic)};
        for (std::size_t gpu = 0; gpu < n; ++gpu) row.push_back(used.kind(graph.nic_path(gpu, nic).kind.value, 0));
        for (std::size_t to = 0; to < nics; ++to) row.push_back(used.kind(graph.nic_pair(nic, to).kind.value, 0));
        table.add(std::move(row));
    }
    return table.text();
}

std::string nic_names_text(const Machine &machine) {
    std::string text;
    for (std::size_t nic = 0; nic < machine.snapshot.nics.size(); ++nic)
        text += fmt::format("  NIC{}: {}\n", nic, machine.snapshot.nics[nic].name);
    return text.empty() ? text : "NIC Legend:\n" + text;
}

std::string bandwidth_text(const Machine &machine, Abbreviations &used) {
    const std::size_t n = machine.graph.gpus;
    if (n < 2) return {};
    const bool measured = any_measured(machine.graph);
    std::set<Advised> advised;
    Table table;
    std::vector<std::string> head{""};
    for (std::size_t gpu = 0; gpu < n; ++gpu) head.push_back(label(machine, gpu));
    table.add(head);
    for (std::size_t from = 0; from < n; ++from) {
        std::vector<std::string> row{label(machine, from)};
        for (std::size_t to = 0; to < n; ++to) {
            if (from == to) {
                row.push_back(used.kind(LinkKind::SELF, 0));
                continue;
            }
            const Pair &pair = machine.graph.pair(from, to);
            const Advised transport = transport_of(machine, pair).transport;
            std::string cell = speed_text(pair.nominal_mbps, used);
            if (transport != Advised::none) cell += fmt::format(" {}", letter(transport));
            if (measured) cell = fmt::format("{}/{}", speed_text(pair.measured_mbps, used), cell);
            advised.insert(transport);
            row.push_back(std::move(cell));
        }
        table.add(std::move(row));
    }
    std::string text = fmt::format("GB/s from the row's {0} to the column's, {1}one direction", noun_of(machine),
                                   measured ? "measured/nominal, " : "nominal, ");
    advised.erase(Advised::none);
    if (!advised.empty()) text += fmt::format(", and the transport advised\n({})", letters_text(advised));
    return text + "\n" + table.text() + "\nWhy:\n" + reasons_text(machine, used);
}

}  // namespace baton::topology
