#include "topology/tool/picture_links.hpp"

#include <algorithm>

#include "topology/links.hpp"
#include "topology/tool/picture_style.hpp"

namespace baton::topology::picture {
namespace {

bool leads_to_switch(const NvLink &link) {
    return link.active && (link.far_end == FarEnd::nvswitch || link.far_end == FarEnd::hidden_switch);
}

}  // namespace

bool drawn_as_nvlink(LinkKind kind) { return has_nvlinks(kind) || kind == LinkKind::C2C; }

std::vector<DirectLink> direct_links(const Machine &machine) {
    std::vector<DirectLink> result;
    const std::size_t n = machine.graph.gpus;
    for (std::size_t from = 0; from < n; ++from)
        for (std::size_t to = from + 1; to < n; ++to) {
            const Pair &pair = machine.graph.pair(from, to);
            if (pair.kind.value != LinkKind::NVLINK) continue;
            result.push_back({static_cast<int>(from), static_cast<int>(to), pair.links,
                              pair.nominal_mbps.known() ? pair.nominal_mbps.value : 0});
        }
    return result;
}

std::vector<DirectLink> drawn_links(const Machine &machine) {
    std::vector<DirectLink> links = direct_links(machine);
    if (links.size() > most_wires) links.clear();
    return links;
}

std::vector<FabricLink> fabric_links(const Machine &machine) {
    std::vector<FabricLink> result;
    const std::size_t n = machine.graph.gpus;
    for (std::size_t gpu = 0; gpu < n; ++gpu) {
        const Gpu &from = machine.snapshot.gpus[gpu];
        bool connected = std::any_of(from.nvlinks.begin(), from.nvlinks.end(), leads_to_switch);
        int links = static_cast<int>(std::count_if(from.nvlinks.begin(), from.nvlinks.end(), [&](const NvLink &link) {
            return leads_to_switch(link) && !is_sum_of_links(from, link);
        }));
        for (std::size_t other = 0; other < n; ++other) {
            const Pair &pair = machine.graph.pair(gpu, other);
            if (pair.kind.value != LinkKind::NVSWITCH) continue;
            connected = true;
            links = std::max(links, pair.links);
        }
        if (connected) result.push_back({static_cast<int>(gpu), links});
    }
    return result;
}

int strongest(const std::vector<DirectLink> &links) {
    int best = 0;
    for (const DirectLink &link : links) best = std::max(best, link.mbps);
    return best;
}

LinkLook look_of(const DirectLink &link, int strongest) {
    LinkLook look{style::nvlink_strong, link.links > 0 ? std::clamp(1.2 + 1.2 * link.links, 2.4, 8.0) : 4};
    if (link.mbps > 0 && link.mbps < strongest) {
        look.color = 2 * link.mbps > strongest ? style::nvlink_middle : style::nvlink_weak;
        look.width = std::clamp(look.width, 2.4, 6.0);
    }
    return look;
}

LinkLook look_of_fabric(int links) { return {style::nvlink_strong, links > 0 ? std::clamp(0.5 * links, 2.4, 9.0) : 4}; }

}  // namespace baton::topology::picture
