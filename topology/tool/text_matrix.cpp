#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

#include "topology/names.hpp"
#include "topology/tool/table.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

template <class T>
std::string known_text(const Known<T> &value) {
    return value.known() ? fmt::format("{}", value.value) : "N/A";
}

/// Whether the word is in the text, not as a part of another one. A '#' stands for digits.
bool has_word(const std::string &text, const std::string &word) {
    const auto in_word = [](char character) {
        return std::isalnum(static_cast<unsigned char>(character)) != 0 || std::strchr("-_/?.", character) != nullptr;
    };
    const bool counted = word.back() == '#';
    const std::string fixed = counted ? word.substr(0, word.size() - 1) : word;
    for (std::size_t at = text.find(fixed); at != std::string::npos; at = text.find(fixed, at + 1)) {
        std::size_t end = at + fixed.size();
        while (counted && end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
        if (counted && end == at + fixed.size()) continue;
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return true;
    }
    return false;
}

/// As nvidia-smi calls GPUs.
std::string label(const Machine &machine, std::size_t index) { return fmt::format("{}{}", noun_of(machine), index); }

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

std::string letters_text(const std::set<Advised> &used) {
    constexpr std::pair<Advised, const char *> words[] = {
        {Advised::kernel_and_copy_engine, "kernels for small and copy engines for large messages"},
        {Advised::copy_engine, "copy engines"},
        {Advised::host_staging, "through host memory"}};
    std::vector<std::string> parts;
    for (const auto &[advised, meaning] : words)
        if (used.contains(advised)) parts.push_back(fmt::format("{}: {}", letter(advised), meaning));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string reason(const Machine &machine, const Pair &pair) {
    const TransportAdvice advice = transport_of(machine, pair);
    std::string text = short_kind(pair.kind.value, pair.links);
    text += pair.nominal_mbps.known()
                ? fmt::format(", {} GB/s ({})", gbps_text(pair.nominal_mbps.value), name_of(pair.nominal_mbps.source))
                : ", bandwidth unknown";
    if (pair.hops.known() && pair.hops.value > 0)
        text += fmt::format(", {} hop{}", pair.hops.value, pair.hops.value == 1 ? "" : "s");
    text += fmt::format(": {}\n      {}", pair.why, p2p_text(pair));
    if (advice.transport != Advised::none)
        text += fmt::format("\n      advised {}: {}", name_of(advice.transport), advice.why);
    return text;
}

/// "0-1" for both directions where they are alike, else "0>1".
std::string reasons_text(const Machine &machine) {
    const Graph &graph = machine.graph;
    Groups groups;
    const std::size_t n = graph.gpus;
    bool both = true;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = 0; to < n; ++to) {
            const std::string there = from == to ? "" : reason(machine, graph.pair(from, to));
            const bool alike = from != to && there == reason(machine, graph.pair(to, from));
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

const char *meaning_of(LinkKind kind) {
    switch (kind) {
        case LinkKind::SELF:
            return "itself";
        case LinkKind::SAME_DEVICE:
            return "slices of one GPU";
        case LinkKind::NVLINK:
        case LinkKind::NVSWITCH:
            return "NVLinks";
        case LinkKind::C2C:
            return "NVLink-C2C";
        case LinkKind::PIX:
            return "at most one PCIe switch";
        case LinkKind::PXB:
            return "several PCIe switches, without a PCIe host bridge";
        case LinkKind::PHB:
            return "PCIe and one PCIe host bridge, usually the CPU";
        case LinkKind::NODE:
            return "PCIe and the link between PCIe host bridges of one NUMA node";
        case LinkKind::SYS:
            return "PCIe and the link between NUMA nodes";
        case LinkKind::NONE:
            return "not known";
    }
    return "not known";
}

std::string legend_text(const std::string &shown) {
    const std::pair<std::string, const char *> entries[] = {
        {"X", meaning_of(LinkKind::SELF)},
        {"DEV", meaning_of(LinkKind::SAME_DEVICE)},
        {"SYS", meaning_of(LinkKind::SYS)},
        {"NODE", meaning_of(LinkKind::NODE)},
        {"PHB", meaning_of(LinkKind::PHB)},
        {"PXB", meaning_of(LinkKind::PXB)},
        {"PIX", meaning_of(LinkKind::PIX)},
        {"C2C", meaning_of(LinkKind::C2C)},
        {"NV#", "# NVLinks at once, direct or by way of NVSwitches"},
        {"NV?", "NVLinks, not known how many"},
        {"?", meaning_of(LinkKind::NONE)},
        {"N/A", "not known"}};
    std::string text;
    for (const auto &[word, meaning] : entries)
        if (has_word(shown, word)) text += fmt::format("  {:<4} = {}\n", word, meaning);
    return text.empty() ? text : "Legend:\n" + text;
}

std::string matrix_text(const Machine &machine) {
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
            row.push_back(short_kind(graph.pair(gpu, to).kind.value, graph.pair(gpu, to).links));
        for (std::size_t nic = 0; nic < nics; ++nic) row.push_back(short_kind(graph.nic_path(gpu, nic).kind.value, 0));
        row.push_back(known_text(snapshot.gpus[gpu].cpuset));
        row.push_back(known_text(snapshot.gpus[gpu].numa_node));
        table.add(std::move(row));
    }
    for (std::size_t nic = 0; nic < nics; ++nic) {
        std::vector<std::string> row{fmt::format("NIC{}", nic)};
        for (std::size_t gpu = 0; gpu < n; ++gpu) row.push_back(short_kind(graph.nic_path(gpu, nic).kind.value, 0));
        for (std::size_t to = 0; to < nics; ++to) row.push_back(short_kind(graph.nic_pair(nic, to).kind.value, 0));
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

std::string bandwidth_text(const Machine &machine) {
    const std::size_t n = machine.graph.gpus;
    if (n < 2) return {};
    const bool measured = any_measured(machine.graph);
    std::set<Advised> used;
    Table table;
    std::vector<std::string> head{""};
    for (std::size_t gpu = 0; gpu < n; ++gpu) head.push_back(label(machine, gpu));
    table.add(head);
    for (std::size_t from = 0; from < n; ++from) {
        std::vector<std::string> row{label(machine, from)};
        for (std::size_t to = 0; to < n; ++to) {
            const Pair &pair = machine.graph.pair(from, to);
            const Advised transport = transport_of(machine, pair).transport;
            std::string cell = speed_text(pair.nominal_mbps);
            if (transport != Advised::none) cell += fmt::format(" {}", letter(transport));
            if (measured) cell = fmt::format("{}/{}", speed_text(pair.measured_mbps), cell);
            if (from != to) used.insert(transport);
            row.push_back(from == to ? "X" : std::move(cell));
        }
        table.add(std::move(row));
    }
    std::string text = fmt::format("GB/s from the row's {0} to the column's, {1}one direction", noun_of(machine),
                                   measured ? "measured/nominal, " : "nominal, ");
    used.erase(Advised::none);
    if (!used.empty()) text += fmt::format(", and the transport advised\n({})", letters_text(used));
    return text + "\n" + table.text() + "\nWhy:\n" + reasons_text(machine);
}

}  // namespace baton::topology
