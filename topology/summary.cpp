#include "topology/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "topology/advice.hpp"
#include "topology/graph.hpp"
#include "topology/groups.hpp"
#include "topology/names.hpp"
#include "util/cuda_version.hpp"

namespace baton::topology {
namespace {

std::string software_text(const Snapshot &snapshot) {
    std::string text = driver_text(snapshot);
    if (snapshot.cuda_runtime_version > 0)
        text += fmt::format("; built with CUDA {}", core::cuda_version_text(snapshot.cuda_runtime_version));
    return text;
}

std::string gpus_line(const Snapshot &snapshot) {
    if (snapshot.gpus.empty()) return "GPUs: none" + software_text(snapshot) + "\n";
    Groups names;
    std::size_t visible = 0;
    for (const Gpu &gpu : snapshot.gpus) {
        std::string name = gpu.name.empty() ? "unnamed GPU" : gpu.name;
        if (gpu.mig) name += " (MIG)";
        names.add(name, gpu.pci.known() ? to_string(gpu.pci.value) : "?");
        visible += gpu.cuda_ordinal.known() ? 1 : 0;
    }
    std::vector<std::string> parts;
    for (const auto &[name, where] : names.list)
        parts.push_back(fmt::format("{} x {} at {}", where.size(), name, fmt::join(where, " ")));
    std::string text = fmt::format("GPUs: {}", fmt::join(parts, ", "));
    if (visible != snapshot.gpus.size() && snapshot.cuda_runtime_version > 0)
        text += fmt::format("; {} of them visible to CUDA here", visible);
    return text + software_text(snapshot) + "\n";
}

std::string kind_text(const Pair &pair) {
    const LinkKind kind = pair.kind.value;
    const std::string nvlinks = pair.links > 0 ? fmt::format("NV{}", pair.links) : "NVLink (number of links unknown)";
    switch (kind) {
        case LinkKind::SELF:
        case LinkKind::SAME_DEVICE:
        case LinkKind::C2C:
            return meaning_of(kind);
        case LinkKind::NVLINK:
            return nvlinks;
        case LinkKind::NVSWITCH:
            return nvlinks + " through NVSwitch" + (pair.switch_hidden ? " (hidden)" : "");
        case LinkKind::PIX:
        case LinkKind::PXB:
        case LinkKind::PHB:
        case LinkKind::NODE:
        case LinkKind::SYS:
            return fmt::format("{} ({})", name_of(kind), meaning_of(kind));
        case LinkKind::NONE:
            break;
    }
    return "unknown link";
}

std::string pair_text(const Pair &pair) {
    if (!pair.nominal_mbps.known()) return kind_text(pair);
    return fmt::format("{}, {} GB/s per direction nominal", kind_text(pair), gbps_text(pair.nominal_mbps.value));
}

/// "no" beats "unknown": a refusal is what the reader has to know.
std::string p2p_text(const Pair &there, const Pair &back) {
    if (p2p_refused(there) || p2p_refused(back)) return "P2P refused";
    const bool answered =
        there.p2p_read.known() && there.p2p_write.known() && back.p2p_read.known() && back.p2p_write.known();
    return answered ? "P2P yes" : "P2P unknown";
}

/// Groups the unordered pairs by `text`; one group reads "all pairs ...", several name their pairs, the largest last.
std::string grouped_pairs(const Snapshot &snapshot, const std::function<std::string(std::size_t, std::size_t)> &text) {
    Groups groups;
    for (std::size_t from = 0; from < snapshot.gpus.size(); ++from)
        for (std::size_t to = from + 1; to < snapshot.gpus.size(); ++to)
            groups.add(text(from, to), fmt::format("{}-{}", from, to));
    auto &list = groups.list;
    if (list.size() == 1)
        return fmt::format("{} {}", list[0].second.size() == 1 ? "the pair" : "all pairs", list[0].first);
    std::stable_sort(list.begin(), list.end(),
                     [](const auto &a, const auto &b) { return a.second.size() < b.second.size(); });
    std::vector<std::string> parts;
    for (std::size_t index = 0; index < list.size(); ++index) {
        const auto &[what, pairs] = list[index];
        const bool rest = index + 1 == list.size() && pairs.size() > 8;
        parts.push_back(rest ? fmt::format("the other {} pairs {}", pairs.size(), what)
                             : fmt::format("{} {}", fmt::join(pairs, " "), what));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string links_line(const Snapshot &snapshot) {
    if (snapshot.gpus.size() < 2) return {};
    const Graph graph = make_graph(snapshot);
    return fmt::format("links: {}\n", grouped_pairs(snapshot, [&](std::size_t from, std::size_t to) {
                           const Pair &pair = graph.pair(from, to);
                           return fmt::format("{}, {}", pair_text(pair), p2p_text(pair, graph.pair(to, from)));
                       }));
}

std::string host_line(const Snapshot &snapshot) {
    const Host &host = snapshot.host;
    if (host.source == Source::none) return "CPU: unknown\n";
    std::string model = host.cpu_model.empty() ? "unnamed CPU" : host.cpu_model;
    std::string text =
        fmt::format("CPU: {}{}, {}, {}, {}", host.packages > 1 ? fmt::format("{} x ", host.packages) : "", model,
                    counted(host.cores, "core"), counted(host.pus, "PU"), counted(host.numa_nodes, "NUMA node"));
    Groups nodes;
    for (std::size_t index = 0; index < snapshot.gpus.size(); ++index)
        if (const auto &node = snapshot.gpus[index].numa_node; node.known())
            nodes.add(fmt::format("{}", node.value), fmt::format("{}", index));
    for (const auto &[node, gpus] : nodes.list)
        text += fmt::format("; GPU{} {} at node {}", gpus.size() == 1 ? "" : "s", fmt::join(gpus, " "), node);
    return text + "\n";
}

std::string gaps_lines(const Snapshot &snapshot) {
    std::string text;
    for (const std::string &gap : snapshot.gaps) text += fmt::format("note: {}\n", gap);
    auto placed =
        std::count_if(snapshot.gpus.begin(), snapshot.gpus.end(), [](const Gpu &gpu) { return gpu.numa_node.known(); });
    auto unplaced = static_cast<std::ptrdiff_t>(snapshot.gpus.size()) - placed;
    if (unplaced > 0 && snapshot.host.numa_nodes > 1)
        text += fmt::format("note: the NUMA node of {} of {} GPUs is unknown\n", unplaced, snapshot.gpus.size());
    return text;
}

}  // namespace

std::string driver_text(const Snapshot &snapshot) {
    std::string text;
    if (snapshot.driver.known()) text += "; driver " + snapshot.driver.value;
    if (snapshot.cuda_driver_version > 0)
        text += fmt::format(" (CUDA {})", core::cuda_version_text(snapshot.cuda_driver_version));
    return text;
}

std::string summarize(const Snapshot &snapshot) {
    return gpus_line(snapshot) + links_line(snapshot) + host_line(snapshot) + gaps_lines(snapshot);
}

}  // namespace baton::topology
