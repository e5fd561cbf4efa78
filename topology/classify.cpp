#include "topology/classify.hpp"

#include <fmt/format.h>

#include "topology/names.hpp"

namespace baton::topology {
namespace {

bool refused(const Known<P2pStatus> &status) {
    return status.known() && status.value != P2pStatus::ok && status.value != P2pStatus::unknown;
}

Pair nvlink_pair(LinkKind kind, int links, const PairEvidence &evidence, std::string why) {
    Pair pair;
    pair.kind = {kind, evidence.link_source};
    pair.links = evidence.links_are_sums ? 0 : links;
    if (links > 0 && evidence.link_mbps > 0)
        pair.nominal_mbps = {links * evidence.link_mbps, evidence.link_mbps_source};
    pair.hops = {kind == LinkKind::NVSWITCH ? 1 : 0, evidence.link_source};
    pair.switch_hidden = kind == LinkKind::NVSWITCH && evidence.switch_hidden;
    pair.why = std::move(why);
    return pair;
}

Pair plain_pair(LinkKind kind, Source source, std::string why) {
    Pair pair;
    pair.kind = {kind, source};
    pair.why = std::move(why);
    return pair;
}

/// Empty for a level that is newer than this list.
std::optional<Pair> pair_by_ancestor(const Known<CommonAncestor> &ancestor) {
    if (!ancestor.known()) return std::nullopt;
    const auto answer = [&](LinkKind kind, const char *why) { return plain_pair(kind, ancestor.source, why); };
    switch (ancestor.value) {
        case CommonAncestor::internal:
            return answer(LinkKind::PIX, "both on one board");
        case CommonAncestor::single:
            return answer(LinkKind::PIX, "one PCIe switch between them");
        case CommonAncestor::multiple:
            return answer(LinkKind::PXB, "several PCIe switches between them");
        case CommonAncestor::host_bridge:
            return answer(LinkKind::PHB, "a PCIe host bridge between them");
        case CommonAncestor::node:
            return answer(LinkKind::NODE, "PCIe host bridges of one NUMA node");
        case CommonAncestor::system:
            return answer(LinkKind::SYS, "nothing in common but the system");
    }
    return std::nullopt;
}

/// The driver's word decides the kind, as in nvidia-smi; the trees know hops and speeds.
Pair pci_pair(const PairEvidence &evidence) {
    Pair pair = plain_pair(LinkKind::NONE, Source::none, "nobody tells how they are connected");
    if (auto answer = pair_by_ancestor(evidence.ancestor)) {
        pair = *answer;
    } else if (evidence.path) {
        pair = plain_pair(evidence.path->kind, evidence.path->source, evidence.path->why);
    } else if (evidence.numa_from.known() && evidence.numa_to.known()) {
        pair = evidence.numa_from.value != evidence.numa_to.value
                   ? plain_pair(LinkKind::SYS, evidence.numa_from.source, "on different NUMA nodes")
                   : plain_pair(LinkKind::NODE, evidence.numa_from.source,
                                "on one NUMA node; what lies between them is unknown");
    }
    if (evidence.path && evidence.path->kind != LinkKind::SELF) {
        pair.hops = {evidence.path->hops, evidence.path->source};
        pair.nominal_mbps = evidence.path->mbps;
    }
    return pair;
}

}  // namespace

int nominal_link_mbps(int nvlink_version) {
    switch (nvlink_version) {
        case 1:
            return 20'000;
        case 2:
        case 3:
        case 4:
        case 5:
        case 6:
            return 25'000;
        case 7:
            return 50'000;
    }
    return 0;
}

FarEnd classify_far_end(const NvmlLink &link, int peer_gpu) {
    if (peer_gpu >= 0) return FarEnd::gpu;
    if (link.remote_type) {
        switch (*link.remote_type) {
            case RemoteType::gpu:
                return FarEnd::gpu;
            case RemoteType::ibm_npu:
                return FarEnd::cpu;
            case RemoteType::nvswitch:
                return link.remote_hidden ? FarEnd::hidden_switch : FarEnd::nvswitch;
            case RemoteType::unknown:
                break;
        }
    }
    if (link.remote_hidden) return FarEnd::hidden_switch;
    return link.remote_is_bridge ? FarEnd::nvswitch : FarEnd::unknown;
}

Pair classify_pair(const PairEvidence &evidence) {
    if (evidence.same_gpu) return plain_pair(LinkKind::SELF, Source::table, "the same GPU");
    if (evidence.same_device) return plain_pair(LinkKind::SAME_DEVICE, Source::table, "slices of one GPU");

    const bool has_links = evidence.direct_links > 0 || evidence.switch_links > 0;
    if (has_links && !refused(evidence.nvlink)) {
        if (evidence.direct_links > 0)
            return nvlink_pair(LinkKind::NVLINK, evidence.direct_links, evidence, "direct NVLinks");
        return nvlink_pair(LinkKind::NVSWITCH, evidence.switch_links, evidence,
                           evidence.nvlink.known() && evidence.nvlink.value == P2pStatus::ok
                               ? "both have NVLinks to switches, and NVML says that they connect"
                               : "both have NVLinks to switches, assumed to connect");
    }
    if (evidence.nvlink.known() && evidence.nvlink.value == P2pStatus::ok)
        return nvlink_pair(LinkKind::NVLINK, 0, evidence, "NVML says that NVLink connects them, but shows no link");
    if (evidence.c2c_mbps.known()) {
        Pair pair = plain_pair(LinkKind::C2C, evidence.c2c_mbps.source, "both have NVLink-C2C to their processors");
        pair.nominal_mbps = evidence.c2c_mbps;
        return pair;
    }
    Pair pair = pci_pair(evidence);
    if (has_links) pair.why += fmt::format("; NVLinks exist, but NVML says {}", name_of(evidence.nvlink.value));
    return pair;
}

}  // namespace baton::topology
