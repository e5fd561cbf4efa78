#include "topology/classify.hpp"

#include <fmt/format.h>

namespace baton::topology {
namespace {

bool refused(std::optional<P2pStatus> status) {
    return status && *status != P2pStatus::ok && *status != P2pStatus::unknown;
}

Pair nvlink_pair(LinkKind kind, int links, const PairFacts &facts, std::string why) {
    Pair pair;
    pair.kind = {kind, Source::nvml};
    pair.links = links;
    if (links > 0 && facts.link_mbps > 0) pair.nominal_mbps = {links * facts.link_mbps, facts.link_mbps_source};
    pair.switch_hidden = kind == LinkKind::NVSWITCH && facts.switch_hidden;
    pair.why = std::move(why);
    return pair;
}

Pair plain_pair(LinkKind kind, Source source, std::string why) {
    Pair pair;
    pair.kind = {kind, source};
    pair.why = std::move(why);
    return pair;
}

std::optional<Pair> pci_pair(const PairFacts &facts) {
    if (facts.ancestor) {
        auto answer = [](LinkKind kind, const char *why) { return plain_pair(kind, Source::nvml, why); };
        switch (*facts.ancestor) {
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
    }
    if (facts.numa_from.known() && facts.numa_to.known()) {
        if (facts.numa_from.value != facts.numa_to.value)
            return plain_pair(LinkKind::SYS, facts.numa_from.source, "on different NUMA nodes");
        return plain_pair(LinkKind::NODE, facts.numa_from.source,
                          "on one NUMA node; what lies between them is unknown");
    }
    return std::nullopt;
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

Pair classify_pair(const PairFacts &facts) {
    if (facts.same_gpu) return plain_pair(LinkKind::SELF, Source::table, "the same GPU");
    if (facts.same_device) return plain_pair(LinkKind::SAME_DEVICE, Source::table, "slices of one GPU");

    const bool has_links = facts.direct_links > 0 || facts.switch_links > 0;
    if (has_links && !refused(facts.nvlink)) {
        if (facts.direct_links > 0) return nvlink_pair(LinkKind::NVLINK, facts.direct_links, facts, "direct NVLinks");
        return nvlink_pair(LinkKind::NVSWITCH, facts.switch_links, facts,
                           facts.nvlink == P2pStatus::ok
                               ? "both have NVLinks to switches, and NVML says that they connect"
                               : "both have NVLinks to switches, assumed to connect");
    }
    if (facts.nvlink == P2pStatus::ok)
        return nvlink_pair(LinkKind::NVLINK, 0, facts, "NVML says that NVLink connects them, but shows no link");

    Pair pair = pci_pair(facts).value_or(plain_pair(LinkKind::NONE, Source::none, "neither NVML nor sysfs tells"));
    if (has_links) pair.why += fmt::format("; NVLinks exist, but NVML says {}", p2p_status_name(*facts.nvlink));
    return pair;
}

}  // namespace baton::topology
