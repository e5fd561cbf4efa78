#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "topology/names.hpp"
#include "topology/tool/table.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

constexpr std::pair<LinkKind, const char *> legend[] = {
    {LinkKind::SAME_DEVICE, "DEV  = slices of one GPU"},
    {LinkKind::SYS, "SYS  = PCIe and the link between NUMA nodes"},
    {LinkKind::NODE, "NODE = PCIe and the link between PCIe host bridges of one NUMA node"},
    {LinkKind::PHB, "PHB  = PCIe and one PCIe host bridge, usually the CPU"},
    {LinkKind::PXB, "PXB  = several PCIe switches, without a PCIe host bridge"},
    {LinkKind::PIX, "PIX  = at most one PCIe switch"},
    {LinkKind::C2C, "C2C  = NVLink-C2C"},
    {LinkKind::NVLINK, "NV#  = # NVLinks at once, direct or by way of NVSwitches"},
    {LinkKind::NONE, "?    = not known"},
};

template <class T>
std::string known_text(const Known<T> &value) {
    return value.known() ? fmt::format("{}", value.value) : "N/A";
}

std::string legend_text(const std::vector<LinkKind> &used) {
    std::string text = "\nLegend:\n  X    = itself\n";
    for (const auto &[kind, words] : legend)
        if (std::count(used.begin(), used.end(), kind) > 0) text += fmt::format("  {}\n", words);
    return text;
}

/// Pairs of GPUs by what is said about them, in order of first appearance.
using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;

void add_to(Groups &groups, const std::string &key, std::string member) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto &group) { return group.first == key; });
    if (found == groups.end()) found = groups.insert(groups.end(), {key, {}});
    found->second.push_back(std::move(member));
}

std::string speed_text(const Known<int> &mbps) { return mbps.known() ? gbps_text(mbps.value) : "?"; }

std::string p2p_text(const Pair &pair) {
    const auto word = [](const Known<bool> &answer) { return !answer.known() ? "?" : answer.value ? "yes" : "no"; };
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

std::string reason(const Pair &pair) {
    const TransportAdvice advice = advise_pair(pair);
    std::string text = short_kind(pair.kind.value, pair.links);
    text += pair.nominal_mbps.known()
                ? fmt::format(", {} GB/s ({})", gbps_text(pair.nominal_mbps.value), name_of(pair.nominal_mbps.source))
                : ", bandwidth unknown";
    if (pair.hops.known() && pair.hops.value > 0)
        text += fmt::format(", {} hop{}", pair.hops.value, pair.hops.value == 1 ? "" : "s");
    return fmt::format("{}: {}\n      {}\n      advised {}: {}", text, pair.why, p2p_text(pair),
                       name_of(advice.transport), advice.why);
}

/// "0-1" for both directions where they are alike, else "0>1".
std::string reasons_text(const Graph &graph) {
    Groups groups;
    const std::size_t n = graph.gpus;
    bool both = true;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            const std::string there = from == to ? "" : reason(graph.pair(from, to));
            const bool alike = from != to && there == reason(graph.pair(to, from));
            if (from == to || (alike && to < from)) continue;
            both = both && alike;
            add_to(groups, there, fmt::format("{}{}{}", from, alike ? '-' : '>', to));
        }
    std::string text;
    for (const auto &[what, pairs] : groups)
        text += fmt::format("  {}\n      {}\n",
                            groups.size() == 1 && both ? "all pairs" : fmt::format("{}", fmt::join(pairs, " ")), what);
    return text;
}

bool any_measured(const Graph &graph) {
    return std::any_of(graph.pairs.begin(), graph.pairs.end(),
                       [](const Pair &pair) { return pair.measured_mbps.known(); });
}

}  // namespace

std::string short_kind(LinkKind kind, int links) {
    switch (kind) {
        case LinkKind::SELF:
            return "X";
        case LinkKind::SAME_DEVICE:
            return "DEV";
        case LinkKind::NVLINK:
        case LinkKind::NVSWITCH:
            return links > 0 ? fmt::format("NV{}", links) : "NV?";
        case LinkKind::NONE:
            return "?";
        default:
            return std::string(name_of(kind));
    }
}

std::string matrix_text(const Machine &machine) {
    const Snapshot &snapshot = machine.snapshot;
    const Graph &graph = machine.graph;
    const std::size_t n = snapshot.gpus.size(), nics = snapshot.nics.size();
    if (n + nics == 0) return "Neither GPUs nor NICs.\n";
    Table table;
    std::vector<std::string> head{""};
    for (std::size_t gpu = 0; gpu < n; ++gpu) head.push_back(fmt::format("GPU{}", gpu));
    for (std::size_t nic = 0; nic < nics; ++nic) head.push_back(fmt::format("NIC{}", nic));
    head.insert(head.end(), {"CPU Affinity", "NUMA Affinity"});
    table.add(head);

    std::vector<LinkKind> used;
    const auto cell = [&](LinkKind kind, int links) {
        used.push_back(kind == LinkKind::NVSWITCH ? LinkKind::NVLINK : kind);
        return short_kind(kind, links);
    };
    for (std::size_t gpu = 0; gpu < n; ++gpu) {
        std::vector<std::string> row{fmt::format("GPU{}", gpu)};
        for (std::size_t to = 0; to < n; ++to)
            row.push_back(cell(graph.pair(gpu, to).kind.value, graph.pair(gpu, to).links));
        for (std::size_t nic = 0; nic < nics; ++nic) row.push_back(cell(graph.nic_path(gpu, nic).kind.value, 0));
        row.push_back(known_text(snapshot.gpus[gpu].cpuset));
        row.push_back(known_text(snapshot.gpus[gpu].numa_node));
        table.add(std::move(row));
    }
    for (std::size_t nic = 0; nic < nics; ++nic) {
        std::vector<std::string> row{fmt::format("NIC{}", nic)};
        for (std::size_t gpu = 0; gpu < n; ++gpu) row.push_back(cell(graph.nic_path(gpu, nic).kind.value, 0));
        for (std::size_t to = 0; to < nics; ++to) row.push_back(cell(graph.nic_pair(nic, to).kind.value, 0));
        table.add(std::move(row));
    }
    std::string text = table.text() + legend_text(used);
    if (nics > 0) text += "\nNIC Legend:\n";
    for (std::size_t nic = 0; nic < nics; ++nic) text += fmt::format("  NIC{}: {}\n", nic, snapshot.nics[nic].name);
    return text;
}

std::string bandwidth_text(const Machine &machine) {
    const std::size_t n = machine.graph.gpus;
    if (n < 2) return {};
    const bool measured = any_measured(machine.graph);
    Table table;
    std::vector<std::string> head{""};
    for (std::size_t gpu = 0; gpu < n; ++gpu) head.push_back(fmt::format("GPU{}", gpu));
    table.add(head);
    for (std::size_t from = 0; from < n; ++from) {
        std::vector<std::string> row{fmt::format("GPU{}", from)};
        for (std::size_t to = 0; to < n; ++to) {
            const Pair &pair = machine.graph.pair(from, to);
            std::string cell = fmt::format("{} {}", speed_text(pair.nominal_mbps), letter(advise_pair(pair).transport));
            if (measured) cell = fmt::format("{}/{}", speed_text(pair.measured_mbps), cell);
            row.push_back(from == to ? "X" : std::move(cell));
        }
        table.add(std::move(row));
    }
    return fmt::format(
               "GB/s from the row's GPU to the column's, {}one direction, and the transport advised\n"
               "(k: kernels for small and copy engines for large messages, c: copy engines, h: through host memory)\n",
               measured ? "measured/nominal, " : "nominal, ") +
           table.text() + "\nWhy:\n" + reasons_text(machine.graph);
}

}  // namespace baton::topology
