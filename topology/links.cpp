#include "topology/links.hpp"

#include <algorithm>

#include "topology/graph.hpp"

namespace baton::topology {

const char *link_name(LinkKind kind) {
    switch (kind) {
        case LinkKind::SELF:
        case LinkKind::SAME_DEVICE:
            return "same device";
        case LinkKind::NVLINK:
            return "NVLink";
        case LinkKind::NVSWITCH:
            return "NVSwitch";
        case LinkKind::C2C:
            return "NVLink-C2C";
        case LinkKind::PIX:
            return "PIX";
        case LinkKind::PXB:
            return "PXB";
        case LinkKind::PHB:
            return "PHB";
        case LinkKind::NODE:
            return "NODE";
        case LinkKind::SYS:
            return "SYS";
        case LinkKind::NONE:
            return "unknown link";
    }
    return "unknown link";
}

bool has_nvlinks(LinkKind kind) { return kind == LinkKind::NVLINK || kind == LinkKind::NVSWITCH; }

LinkKind weakest_link(const Snapshot &snapshot, const std::vector<std::string> &uuids) {
    std::vector<std::size_t> indices;
    for (const std::string &uuid : uuids) {
        const int gpu = find_gpu(snapshot, uuid);
        if (gpu >= 0) indices.push_back(static_cast<std::size_t>(gpu));
    }
    const bool one_gpu =
        std::all_of(uuids.begin(), uuids.end(), [&](const std::string &uuid) { return uuid == uuids[0]; });
    if (one_gpu) return LinkKind::SAME_DEVICE;
    if (indices.size() != uuids.size()) return LinkKind::NONE;
    const Graph graph = make_graph(snapshot);
    LinkKind worst = LinkKind::SELF;
    for (const std::size_t from : indices)
        for (const std::size_t to : indices) worst = std::max(worst, graph.pair(from, to).kind.value);
    return worst;
}

}  // namespace baton::topology
