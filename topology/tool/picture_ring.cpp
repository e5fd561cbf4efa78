#include "topology/tool/picture_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "topology/tool/abbreviations.hpp"
#include "topology/tool/picture_links.hpp"
#include "topology/tool/picture_style.hpp"

namespace baton::topology::picture {
namespace {

constexpr std::string_view second_line = "at its worst";
constexpr double line_pitch = 15, words_margin = 8;

svg::Font first_line_font() {
    svg::Font font = style::on_link;
    font.size = 13;
    return font;
}

std::string first_line(const Ring &ring) {
    return ring.bottleneck_mbps.known() ? gbps_text(ring.bottleneck_mbps.value) + " GB/s"
                                        : short_kind(ring.bottleneck_kind, ring.bottleneck_links);
}

/// The distance from the circle's center to the furthest corner of the words around it.
double words_radius(const Ring &ring) {
    const double width = std::max(svg::text_width(first_line(ring), first_line_font()),
                                  svg::text_width(second_line, style::small_faint));
    return std::hypot(width / 2, line_pitch + 3) + words_margin;
}

}  // namespace

std::string_view line_color(LinkKind kind) {
    if (drawn_as_nvlink(kind)) return style::nvlink_strong;
    switch (kind) {
        case LinkKind::SAME_DEVICE:
            return style::slices_line;
        case LinkKind::SYS:
            return style::socket_line;
        case LinkKind::NONE:
            return style::unknown_line;
        default:
            return style::pcie_line;
    }
}

svg::Stroke RingEdge::stroke() const { return {line_color(kind), 4, worst ? "7 6" : ""}; }

std::vector<RingEdge> ring_edges(const Machine &machine) {
    const std::vector<int> &order = machine.gpus.ring.order;
    std::vector<RingEdge> edges;
    for (std::size_t index = 0; order.size() > 2 && index < order.size(); ++index) {
        const auto from = static_cast<std::size_t>(order[index]);
        const auto to = static_cast<std::size_t>(order[(index + 1) % order.size()]);
        edges.push_back({machine.graph.pair(from, to).kind.value,
                         machine.gpus.pair(from, to).weight == machine.gpus.ring.bottleneck});
    }
    const bool all_alike = std::all_of(edges.begin(), edges.end(), [](const RingEdge &edge) { return edge.worst; });
    for (RingEdge &edge : edges) edge.worst = edge.worst && !all_alike;
    return edges;
}

RingPanel::RingPanel(const Machine &machine) : machine_(machine), count_(machine.gpus.ring.order.size()) {
    // Lines are chords: their middles are nearer to the center than the circle is. In a ring of an odd number one of
    // them is at the bottom.
    const double chord = std::cos(std::numbers::pi / static_cast<double>(count_));
    radius_ = std::max({62.0, 11.0 * static_cast<double>(count_), std::ceil(words_radius(machine.gpus.ring) / chord)});
    depth_ = count_ % 2 == 0 ? radius_ : std::ceil(radius_ * chord);
}

double RingPanel::width() const { return std::max(220.0, 2 * radius_ + 40); }

double RingPanel::height() const { return heading_height + radius_ + depth_ + 44; }

void RingPanel::draw(svg::Drawing &drawing, const svg::Point &corner) const {
    const Ring &ring = machine_.gpus.ring;
    drawing.text({corner.x, corner.y + 14}, "Ring", style::heading);
    const svg::Point center{corner.x + width() / 2, corner.y + heading_height + radius_ + 20};
    const std::vector<RingEdge> edges = ring_edges(machine_);
    for (std::size_t index = 0; index < count_; ++index)
        drawing.line({place_of(center, index), place_of(center, index + 1)}, edges[index].stroke());
    for (std::size_t index = 0; index < count_; ++index) {
        const svg::Point place = place_of(center, index);
        drawing.circle(place, 14, style::gpu_bar);
        drawing.text({place.x, place.y + 4.5}, fmt::format("{}", ring.order[index]), style::on_bar);
    }
    drawing.text({center.x, center.y}, first_line(ring), first_line_font());
    drawing.text({center.x, center.y + line_pitch}, second_line, style::small_faint);
}

/// Clockwise from the top.
svg::Point RingPanel::place_of(const svg::Point &center, std::size_t index) const {
    const double turn = 2 * std::numbers::pi * static_cast<double>(index % count_) / static_cast<double>(count_);
    return {center.x + radius_ * std::sin(turn), center.y - radius_ * std::cos(turn)};
}

}  // namespace baton::topology::picture
