#include "topology/tool/picture_legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "topology/links.hpp"
#include "topology/tool/picture_links.hpp"
#include "topology/tool/picture_matrix.hpp"
#include "topology/tool/picture_ring.hpp"
#include "topology/tool/picture_style.hpp"

namespace baton::topology::picture {
namespace {

constexpr double words_at = 56, pitch = 22;

/// Explains a line that stands for so many NVLinks.
std::string words_of_links(int links, int mbps) {
    std::string text = links > 0 ? fmt::format("NV{}: {} NVLink{}", links, links, links == 1 ? "" : "s")
                                 : "NV?: NVLinks, not known how many";
    if (mbps > 0) text += fmt::format(", {} GB/s", gbps_text(mbps));
    return text;
}

}  // namespace

LegendPanel::LegendPanel(const Machine &machine, bool processor_links) {
    add_nvlinks(machine);
    add_lines(machine, processor_links);
    add_cells(machine);
    add_warnings(machine);
}

double LegendPanel::width() const {
    double widest = 0;
    for (const Entry &entry : entries_) widest = std::max(widest, svg::text_width(entry.words, style::body));
    return words_at + widest;
}

double LegendPanel::height() const { return heading_height + pitch * static_cast<double>(entries_.size()); }

void LegendPanel::draw(svg::Drawing &drawing, const svg::Point &corner) const {
    if (entries_.empty()) return;
    drawing.text({corner.x, corner.y + 14}, "Legend", style::heading);
    double y = corner.y + heading_height + 10;
    for (const Entry &entry : entries_) {
        svg::Font font = style::body;
        if (entry.look == Look::line)
            drawing.line({{corner.x + 4, y}, {corner.x + 44, y}}, entry.stroke);
        else if (entry.look == Look::cell)
            drawing.rect({corner.x + 4, y - 7, 40, 14}, 0, entry.stroke.color, {});
        else
            font.fill = entry.stroke.color;
        drawing.text({corner.x + words_at, y + 4}, entry.words, font);
        y += pitch;
    }
}

void LegendPanel::add(Look look, const svg::Stroke &stroke, const std::string &words) {
    const bool there =
        std::any_of(entries_.begin(), entries_.end(), [&](const Entry &entry) { return entry.words == words; });
    if (!there) entries_.push_back({look, stroke, words});
}

void LegendPanel::add_nvlinks(const Machine &machine) {
    std::vector<DirectLink> direct = drawn_links(machine);
    const int best = strongest(direct);
    std::stable_sort(direct.begin(), direct.end(),
                     [](const DirectLink &a, const DirectLink &b) { return a.links > b.links; });
    for (const DirectLink &link : direct) {
        const LinkLook look = look_of(link, best);
        add(Look::line, {look.color, look.width}, words_of_links(link.links, link.mbps));
    }
    for (const FabricLink &link : fabric_links(machine)) {
        int mbps = 0;
        for (std::size_t other = 0; other < machine.graph.gpus; ++other) {
            const Pair &pair = machine.graph.pair(static_cast<std::size_t>(link.gpu), other);
            if (pair.links == link.links && pair.nominal_mbps.known()) mbps = pair.nominal_mbps.value;
        }
        const LinkLook look = look_of_fabric(link.links);
        add(Look::line, {look.color, look.width}, words_of_links(link.links, mbps) + " to NVSwitches");
    }
}

void LegendPanel::add_lines(const Machine &machine, bool processor_links) {
    const std::vector<RingEdge> edges = ring_edges(machine);
    const auto in_ring = [&](std::string_view color) {
        return std::any_of(edges.begin(), edges.end(),
                           [&](const RingEdge &edge) { return line_color(edge.kind) == color; });
    };
    const bool devices = !machine.snapshot.nics.empty() || (!machine.snapshot.gpus.empty() && !shows_ranks(machine));
    if (std::any_of(edges.begin(), edges.end(), [](const RingEdge &edge) { return edge.kind == LinkKind::C2C; }))
        add(Look::line, {style::nvlink_strong, 4}, "NVLink-C2C");
    if (in_ring(style::nvlink_strong) && entries_.empty())
        add(Look::line, {style::nvlink_strong, 4}, "NVLinks in the ring");
    if (in_ring(style::slices_line)) add(Look::line, {style::slices_line, 4}, "between slices of one GPU");
    if (devices || in_ring(style::pcie_line)) add(Look::line, {style::pcie_line, 3}, "PCI Express, by bandwidth");
    if (processor_links || in_ring(style::socket_line))
        add(Look::line, {style::socket_line, 3}, "between processors (NUMA)");
    if (in_ring(style::unknown_line)) add(Look::line, {style::unknown_line, 4}, "nobody tells how");
    for (const RingEdge &edge : edges)
        if (edge.worst) add(Look::line, edge.stroke(), "dashed: the ring at its worst");
}

void LegendPanel::add_cells(const Machine &machine) {
    if (machine.graph.gpus < 2) return;
    const int best = best_nominal(machine.graph);
    std::vector<const Pair *> pairs;
    for (const Pair &pair : machine.graph.pairs)
        if (pair.kind.value != LinkKind::SELF) pairs.push_back(&pair);
    const auto rank = [](const Pair *pair) { return std::tuple(pair->kind.value, -pair->nominal_mbps.value); };
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair *a, const Pair *b) { return rank(a) < rank(b); });
    for (const Pair *pair : pairs) {
        const std::string_view fill = fill_of(*pair, best);
        add(Look::cell, {fill}, words_of_cell(*pair, fill));
    }
    for (const Pair *pair : pairs)
        if (has_nvlinks(pair->kind.value)) add_number(pair->links);
}

/// Explains the number of NVLinks, unless a line has done so.
void LegendPanel::add_number(int links) {
    const std::string words = words_of_links(links, 0), abbreviation = words.substr(0, words.find(':') + 1);
    const bool there = std::any_of(entries_.begin(), entries_.end(),
                                   [&](const Entry &entry) { return entry.words.starts_with(abbreviation); });
    if (!there) add(Look::text, {style::ink}, words);
}

void LegendPanel::add_warnings(const Machine &machine) {
    const std::vector<FabricLink> fabric = fabric_links(machine);
    if (std::any_of(fabric.begin(), fabric.end(),
                    [&](const FabricLink &link) { return link.links != fabric[0].links; }))
        add(Look::text, {style::warning}, "red NV#: fewer NVLinks to switches than other GPUs");
    if (std::any_of(machine.graph.pairs.begin(), machine.graph.pairs.end(), p2p_refused))
        add(Look::text, {style::warning}, "red in the matrix: P2P is refused");
}

}  // namespace baton::topology::picture
