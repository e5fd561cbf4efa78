#include "topology/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/classify.hpp"
#include "topology/links.hpp"

namespace baton::topology {
namespace {

bool to_switch(const NvLink &link) {
    // A link that is up and whose end nobody tells leads to a switch on every machine known.
    return link.active && (link.far_end == FarEnd::nvswitch || link.far_end == FarEnd::hidden_switch ||
                           link.far_end == FarEnd::unknown);
}

int count_switch_links(const Gpu &gpu) {
    return static_cast<int>(std::count_if(gpu.nvlinks.begin(), gpu.nvlinks.end(), to_switch));
}

int count_links_to(const Gpu &gpu, std::size_t peer) {
    return static_cast<int>(std::count_if(gpu.nvlinks.begin(), gpu.nvlinks.end(), [peer](const NvLink &link) {
        return link.active && link.peer_gpu == static_cast<int>(peer);
    }));
}

Known<int> slowest_link(const Gpu &gpu) {
    Known<int> slowest;
    for (const NvLink &link : gpu.nvlinks) {
        if (!link.active) continue;
        const int nominal = nominal_link_mbps(link.version), mbps = link_mbps(link);
        const bool by_table = nominal > 0 && (mbps == nominal || mbps == ga10x_link_mbps);
        const Known<int> speed{mbps, by_table ? Source::table : gpu.nvlink_source};
        if (speed.value == 0) return {};
        if (!slowest.known() || speed.value < slowest.value) slowest = speed;
    }
    return slowest;
}

/// Whether any of the links that count from the GPU to its peer is a sum of links.
bool has_sums(const Gpu &gpu, std::size_t peer, bool direct) {
    return std::any_of(gpu.nvlinks.begin(), gpu.nvlinks.end(), [&](const NvLink &link) {
        const bool counts = direct ? link.active && link.peer_gpu == static_cast<int>(peer) : to_switch(link);
        return counts && is_sum_of_links(gpu, link);
    });
}

/// C2C links lead to a GPU's own processors. Between GPUs of different NUMA nodes lies the link between processors, so
/// their pair does not count as C2C.
Known<int> c2c_between(const Gpu &a, const Gpu &b) {
    if (!a.c2c_mbps.known() || !b.c2c_mbps.known() || !a.numa_node.known() || !b.numa_node.known()) return {};
    if (a.numa_node.value != b.numa_node.value) return {};
    return a.c2c_mbps.value < b.c2c_mbps.value ? a.c2c_mbps : b.c2c_mbps;
}

PairEvidence evidence_of(const Snapshot &snapshot, std::size_t from, std::size_t to) {
    const Gpu &a = snapshot.gpus[from], &b = snapshot.gpus[to];
    const PairFacts &said = snapshot.pair(from, to);
    PairEvidence evidence;
    evidence.same_gpu = from == to;
    evidence.same_device = a.pci.known() && b.pci.known() && a.pci.value == b.pci.value;
    evidence.direct_links = std::min(count_links_to(a, to), count_links_to(b, from));
    evidence.switch_links = std::min(count_switch_links(a), count_switch_links(b));
    const bool direct = evidence.direct_links > 0;
    evidence.links_are_sums = has_sums(a, to, direct) || has_sums(b, from, direct);
    const auto hidden = [](const NvLink &link) { return link.active && link.far_end == FarEnd::hidden_switch; };
    evidence.switch_hidden = std::any_of(a.nvlinks.begin(), a.nvlinks.end(), hidden);
    evidence.link_source = a.nvlink_source != Source::none ? a.nvlink_source : said.nvlink.source;
    if (Known<int> mine = slowest_link(a), theirs = slowest_link(b); mine.known() && theirs.known()) {
        const Known<int> &slower = theirs.value < mine.value ? theirs : mine;
        evidence.link_mbps = slower.value;
        evidence.link_mbps_source = slower.source;
    }
    evidence.nvlink = said.nvlink;
    if (said.links.known() && said.links.value == 0) {
        evidence.direct_links = evidence.switch_links = 0;
        evidence.nvlink = {};
    }
    evidence.ancestor = said.ancestor;
    evidence.c2c_mbps = c2c_between(a, b);
    evidence.path = find_pci_path(snapshot, a.pci_node, b.pci_node);
    evidence.numa_from = a.numa_node;
    evidence.numa_to = b.numa_node;
    return evidence;
}

/// Puts what was stated outright above what follows from the rest.
/// - Links stated without a kind give NVLinks to a pair that had none. (evidence_of() has handled 0 links.)
/// - A stated number of links carries what that many of these GPUs' links carry.
/// - A stated bandwidth says nothing of the number of links.
void state(const PairFacts &said, const PairEvidence &evidence, Pair &pair) {
    const bool had_links = has_nvlinks(pair.kind.value);
    Known<LinkKind> kind = said.kind;
    if (!kind.known() && said.links.known() && said.links.value > 0 && !had_links)
        kind = {LinkKind::NVLINK, said.links.source};
    if (kind.known() && kind.value != pair.kind.value) {
        pair.kind = kind;
        pair.hops = {};
        pair.switch_hidden = false;
        pair.why = "stated outright";
        if (!had_links || !has_nvlinks(kind.value)) {
            pair.nominal_mbps = {};
            pair.links = 0;
        }
    }
    if (said.links.known() && has_nvlinks(pair.kind.value)) {
        pair.links = said.links.value;
        pair.nominal_mbps = {};
        if (evidence.link_mbps > 0 && !evidence.links_are_sums)
            pair.nominal_mbps = {pair.links * evidence.link_mbps, evidence.link_mbps_source};
    }
    if (said.mbps.known()) pair.nominal_mbps = said.mbps;
}

Pair make_pair(const Snapshot &snapshot, std::size_t from, std::size_t to) {
    const PairEvidence evidence = evidence_of(snapshot, from, to);
    Pair pair = classify_pair(evidence);
    const PairFacts &said = snapshot.pair(from, to);
    if (from != to) state(said, evidence, pair);
    pair.p2p_read = said.p2p_read;
    pair.p2p_write = said.p2p_write;
    pair.p2p_atomics = said.p2p_atomics;
    pair.measured_mbps = said.measured_mbps;
    // CUDA has neither P2P nor IPC between GPU instances. Whoever tries it (a probe) may say otherwise.
    if (from != to && (snapshot.gpus[from].mig || snapshot.gpus[to].mig))
        for (Known<bool> *permission : {&pair.p2p_read, &pair.p2p_write, &pair.p2p_atomics})
            if (!permission->known()) *permission = {false, Source::table};
    return pair;
}

NicPath make_nic_path(const Snapshot &snapshot, int node, const Known<int> &numa, const Nic &nic) {
    if (const auto path = find_pci_path(snapshot, node, nic.pci_node)) {
        // Two devices at one place are ports of one card.
        const LinkKind kind = path->kind == LinkKind::SELF ? LinkKind::PIX : path->kind;
        return {{kind, path->source}, {path->hops, path->source}};
    }
    if (!numa.known() || !nic.numa_node.known()) return {};
    return {{numa.value == nic.numa_node.value ? LinkKind::NODE : LinkKind::SYS, numa.source}, {}};
}

}  // namespace

int link_mbps(const NvLink &link) {
    const int nominal = nominal_link_mbps(link.version), reported = link.reported_mbps;
    // Otherwise what is reported is the signalling rate, a little more than nominal, or the same rounded.
    const bool clearly_less = reported > 0 && reported < nominal * 4 / 5;
    return nominal > 0 && !clearly_less ? nominal : reported;
}

bool is_sum_of_links(const Gpu &gpu, const NvLink &link) {
    return link.version == 0 && (gpu.nvlink_source == Source::hwloc_xml || gpu.nvlink_source == Source::hwloc);
}

Graph make_graph(const Snapshot &snapshot) {
    Graph graph;
    graph.gpus = snapshot.gpus.size();
    graph.nics = snapshot.nics.size();
    graph.pairs.reserve(graph.gpus * graph.gpus);
    for (std::size_t from = 0; from < graph.gpus; ++from)
        for (std::size_t to = 0; to < graph.gpus; ++to) graph.pairs.push_back(make_pair(snapshot, from, to));
    for (const Gpu &gpu : snapshot.gpus)
        for (const Nic &nic : snapshot.nics)
            graph.nic_paths.push_back(make_nic_path(snapshot, gpu.pci_node, gpu.numa_node, nic));
    for (std::size_t from = 0; from < graph.nics; ++from)
        for (std::size_t to = 0; to < graph.nics; ++to)
            graph.nic_pairs.push_back(from == to ? NicPath{{LinkKind::SELF, Source::table}, {}}
                                                 : make_nic_path(snapshot, snapshot.nics[from].pci_node,
                                                                 snapshot.nics[from].numa_node, snapshot.nics[to]));
    return graph;
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

std::string gbps_text(int mbps) {
    return mbps % 1000 == 0 ? fmt::format("{}", mbps / 1000) : fmt::format("{:.1f}", mbps / 1000.0);
}

}  // namespace baton::topology
