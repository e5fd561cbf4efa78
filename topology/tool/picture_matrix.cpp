#include "topology/tool/picture_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/tool/abbreviations.hpp"
#include "topology/tool/picture_links.hpp"
#include "topology/tool/picture_style.hpp"

namespace baton::topology::picture {
namespace {

constexpr double narrowest_cell = 52, cell_height = 36, cell_margin = 5, label = 20;
constexpr std::string_view best_fill = "#b9dfa0", good_fill = "#d3ebc3", weak_fill = "#e8f5df";

svg::Font speed_font() {
    svg::Font font = style::small;
    font.size = 10.5;
    return font;
}

/// "450"; where this pair or another one was measured, "391.2/450" or "?/450". Empty if nobody knows anything.
std::string speed_text(const Pair &pair, bool measured) {
    const auto text = [](const Known<int> &mbps) { return mbps.known() ? gbps_text(mbps.value) : "?"; };
    if (!pair.nominal_mbps.known() && !pair.measured_mbps.known()) return {};
    return measured ? text(pair.measured_mbps) + "/" + text(pair.nominal_mbps) : text(pair.nominal_mbps);
}

}  // namespace

int best_nominal(const Graph &graph) {
    int best = 0;
    for (const Pair &pair : graph.pairs)
        if (pair.nominal_mbps.known()) best = std::max(best, pair.nominal_mbps.value);
    return best;
}

std::string_view fill_of(const Pair &pair, int best) {
    if (drawn_as_nvlink(pair.kind.value)) {
        if (!pair.nominal_mbps.known() || pair.nominal_mbps.value >= best) return best_fill;
        return 2 * pair.nominal_mbps.value > best ? good_fill : weak_fill;
    }
    switch (pair.kind.value) {
        case LinkKind::SAME_DEVICE:
            return "#c7e9e4";
        case LinkKind::PIX:
        case LinkKind::PXB:
            return "#d6e6f7";
        case LinkKind::PHB:
        case LinkKind::NODE:
            return "#f9edcf";
        case LinkKind::SYS:
            return "#f9dcc4";
        default:
            return "#eceff3";
    }
}

std::string words_of_cell(const Pair &pair, std::string_view fill) {
    if (!drawn_as_nvlink(pair.kind.value))
        return fmt::format("{}: {}", short_kind(pair.kind.value, 0), meaning_of(pair.kind.value));
    const std::string name = pair.kind.value == LinkKind::C2C ? "C2C: NVLink-C2C" : "NVLinks";
    return name + (fill == good_fill   ? ", more than half of the best"
                   : fill == weak_fill ? ", half of the best or less"
                                       : "");
}

MatrixPanel::MatrixPanel(const Machine &machine)
    : graph_(machine.graph), noun_(noun_of(machine)), best_(best_nominal(machine.graph)) {
    measured_ = any_measured(graph_);
    cell_width_ = narrowest_cell;
    for (const Pair &pair : graph_.pairs) {
        const double words = std::max(svg::text_width(speed_text(pair, measured_), speed_font()),
                                      svg::text_width(short_kind(pair.kind.value, pair.links), style::on_link));
        cell_width_ = std::max(cell_width_, std::ceil(words + 2 * cell_margin));
    }
}

double MatrixPanel::width() const { return std::max(240.0, label + cell_width_ * static_cast<double>(graph_.gpus)); }

double MatrixPanel::height() const { return heading_height + label + cell_height * static_cast<double>(graph_.gpus); }

void MatrixPanel::draw(svg::Drawing &drawing, const svg::Point &corner) const {
    drawing.text({corner.x, corner.y + 14},
                 measured_ ? "Pairs: link, GB/s measured / nominal" : "Pairs: link, GB/s one way", style::heading);
    const svg::Point origin{corner.x + label, corner.y + heading_height + label};
    for (std::size_t from = 0; from < graph_.gpus; ++from) {
        const double at = static_cast<double>(from);
        drawing.text({origin.x + cell_width_ * (at + 0.5), origin.y - 6}, fmt::format("{}", from), style::small_faint);
        drawing.text({origin.x - 10, origin.y + cell_height * (at + 0.5) + 4}, fmt::format("{}", from),
                     style::small_faint);
        for (std::size_t to = 0; to < graph_.gpus; ++to)
            draw_cell(drawing, from, to,
                      {origin.x + cell_width_ * static_cast<double>(to), origin.y + cell_height * at, cell_width_,
                       cell_height});
    }
}

void MatrixPanel::draw_cell(svg::Drawing &drawing, std::size_t from, std::size_t to, const svg::Box &box) const {
    const Pair &pair = graph_.pair(from, to);
    if (from == to) return drawing.rect(box, 0, "#f5f7fa", {"#ffffff", 1.5});
    drawing.begin_group(fmt::format("{} {} to {} {}: {}", noun_, from, noun_, to, pair.why));
    drawing.rect(box, 0, fill_of(pair, best_), {"#ffffff", 1.5});
    const std::string speed = speed_text(pair, measured_);
    svg::Font kind = style::on_link;
    if (p2p_refused(pair)) kind.fill = style::warning;
    drawing.text({box.middle(), box.y + (speed.empty() ? 22 : 15)}, short_kind(pair.kind.value, pair.links), kind);
    if (!speed.empty()) drawing.text({box.middle(), box.y + 29}, speed, speed_font());
    drawing.end_group();
}

}  // namespace baton::topology::picture
