#include "topology/tool/picture_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "topology/tool/picture_links.hpp"
#include "topology/tool/picture_style.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology::picture {
namespace {

using svg::Box;
using svg::Font;
using svg::Point;

constexpr double heading_height = 26;
constexpr std::string_view dashes = "7 6";

bool nvlink(LinkKind kind) { return kind == LinkKind::NVLINK || kind == LinkKind::NVSWITCH || kind == LinkKind::C2C; }

constexpr std::string_view best_fill = "#b9dfa0", good_fill = "#d3ebc3", weak_fill = "#e8f5df";

std::string_view fill_of(const Pair &pair, int best) {
    if (nvlink(pair.kind.value)) {
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

/// What a cell's color and abbreviation say; the number of NVLinks is among the lines.
std::string words_of_cell(const Pair &pair, std::string_view fill) {
    if (!nvlink(pair.kind.value))
        return fmt::format("{}: {}", short_kind(pair.kind.value, 0), meaning_of(pair.kind.value));
    const std::string name = pair.kind.value == LinkKind::C2C ? "C2C: NVLink-C2C" : "NVLinks";
    return name + (fill == good_fill   ? ", more than half of the best"
                   : fill == weak_fill ? ", half of the best or less"
                                       : "");
}

int best_nominal(const Graph &graph) {
    int best = 0;
    for (const Pair &pair : graph.pairs)
        if (pair.nominal_mbps.known()) best = std::max(best, pair.nominal_mbps.value);
    return best;
}

std::string_view line_color(LinkKind kind) {
    if (nvlink(kind)) return style::nvlink_strong;
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

/// The pairs that follow each other in the ring.
std::vector<const Pair *> ring_edges(const Machine &machine) {
    const std::vector<int> &order = machine.gpus.ring.order;
    std::vector<const Pair *> edges;
    for (std::size_t index = 0; order.size() > 2 && index < order.size(); ++index)
        edges.push_back(&machine.graph.pair(static_cast<std::size_t>(order[index]),
                                            static_cast<std::size_t>(order[(index + 1) % order.size()])));
    return edges;
}

bool is_worst(const Machine &machine, const Pair &edge) {
    return edge.kind.value == machine.gpus.ring.bottleneck_kind && !machine.gpus.uniform && !nvlink(edge.kind.value);
}

bool refused(const Pair &pair) {
    return (pair.p2p_read.known() && !pair.p2p_read.value) || (pair.p2p_write.known() && !pair.p2p_write.value);
}

Font at_start(Font font) {
    font.anchor = svg::Anchor::start;
    return font;
}

class MatrixPanel final : public Panel {
public:
    explicit MatrixPanel(const Machine &machine)
        : graph_(machine.graph), noun_(noun_of(machine)), best_(best_nominal(machine.graph)) {
        for (const Pair &pair : graph_.pairs) measured_ = measured_ || pair.measured_mbps.known();
    }
    double width() const override { return std::max(240.0, label + cell_width * static_cast<double>(graph_.gpus)); }
    double height() const override { return heading_height + label + cell_height * static_cast<double>(graph_.gpus); }
    void draw(svg::Drawing &drawing, const Point &corner) const override {
        drawing.text({corner.x, corner.y + 14},
                     measured_ ? "Pairs: link, GB/s measured / nominal" : "Pairs: link, GB/s one way", style::heading);
        const Point origin{corner.x + label, corner.y + heading_height + label};
        for (std::size_t from = 0; from < graph_.gpus; ++from) {
            const double at = static_cast<double>(from);
            drawing.text({origin.x + cell_width * (at + 0.5), origin.y - 6}, fmt::format("{}", from),
                         style::small_faint);
            drawing.text({origin.x - 10, origin.y + cell_height * (at + 0.5) + 4}, fmt::format("{}", from),
                         style::small_faint);
            for (std::size_t to = 0; to < graph_.gpus; ++to)
                draw_cell(drawing, from, to,
                          {origin.x + cell_width * static_cast<double>(to), origin.y + cell_height * at, cell_width,
                           cell_height});
        }
    }

private:
    static constexpr double cell_width = 52, cell_height = 36, label = 20;

    void draw_cell(svg::Drawing &drawing, std::size_t from, std::size_t to, const Box &box) const {
        const Pair &pair = graph_.pair(from, to);
        if (from == to) return drawing.rect(box, 0, "#f5f7fa", {"#ffffff", 1.5});
        drawing.begin_group(fmt::format("{} {} to {} {}: {}", noun_, from, noun_, to, pair.why));
        drawing.rect(box, 0, fill_of(pair, best_), {"#ffffff", 1.5});
        std::string speed = pair.nominal_mbps.known() ? gbps_text(pair.nominal_mbps.value) : "";
        if (pair.measured_mbps.known())
            speed = fmt::format("{}/{}", gbps_text(pair.measured_mbps.value), speed.empty() ? "?" : speed);
        Font kind = style::on_link;
        if (refused(pair)) kind.fill = style::warning;
        Font small = style::small;
        small.size = 10.5;
        drawing.text({box.middle(), box.y + (speed.empty() ? 22 : 15)}, short_kind(pair.kind.value, pair.links), kind);
        if (!speed.empty()) drawing.text({box.middle(), box.y + 29}, speed, small);
        drawing.end_group();
    }

    const Graph &graph_;
    const char *noun_;
    int best_;
    bool measured_ = false;
};

class RingPanel final : public Panel {
public:
    explicit RingPanel(const Machine &machine) : machine_(machine) {
        count_ = machine.gpus.ring.order.size();
        radius_ = std::max(62.0, 11.0 * static_cast<double>(count_));
    }
    double width() const override { return std::max(220.0, 2 * radius_ + 40); }
    double height() const override { return heading_height + 2 * radius_ + 44; }
    void draw(svg::Drawing &drawing, const Point &corner) const override {
        const Ring &ring = machine_.gpus.ring;
        drawing.text({corner.x, corner.y + 14}, "Ring", style::heading);
        const Point center{corner.x + width() / 2, corner.y + heading_height + radius_ + 20};
        const std::vector<const Pair *> edges = ring_edges(machine_);
        for (std::size_t index = 0; index < count_; ++index)
            drawing.line({at(center, index), at(center, index + 1)},
                         {line_color(edges[index]->kind.value), 4, is_worst(machine_, *edges[index]) ? dashes : ""});
        for (std::size_t index = 0; index < count_; ++index) {
            const Point place = at(center, index);
            drawing.circle(place, 14, style::gpu_bar);
            drawing.text({place.x, place.y + 4.5}, fmt::format("{}", ring.order[index]), style::on_bar);
        }
        draw_words(drawing, center);
    }

private:
    /// Clockwise from the top.
    Point at(const Point &center, std::size_t index) const {
        const double turn = 2 * std::numbers::pi * static_cast<double>(index % count_) / static_cast<double>(count_);
        return {center.x + radius_ * std::sin(turn), center.y - radius_ * std::cos(turn)};
    }
    void draw_words(svg::Drawing &drawing, const Point &center) const {
        const Ring &ring = machine_.gpus.ring;
        const std::string worst = ring.bottleneck_mbps.known() ? gbps_text(ring.bottleneck_mbps.value) + " GB/s"
                                                               : short_kind(ring.bottleneck_kind, 0);
        Font bold = style::on_link;
        bold.size = 13;
        drawing.text({center.x, center.y}, worst, bold);
        drawing.text({center.x, center.y + 15}, "at its worst", style::small_faint);
    }

    const Machine &machine_;
    std::size_t count_ = 0;
    double radius_ = 0;
};

/// What is drawn, and nothing else.
class LegendPanel final : public Panel {
public:
    LegendPanel(const Machine &machine, bool processor_links) {
        add_nvlinks(machine);
        add_lines(machine, processor_links);
        add_cells(machine);
        add_warnings(machine);
    }
    double width() const override {
        double widest = 0;
        for (const Entry &entry : entries_) widest = std::max(widest, svg::text_width(entry.words, style::body));
        return words_at + widest;
    }
    double height() const override { return heading_height + pitch * static_cast<double>(entries_.size()); }
    void draw(svg::Drawing &drawing, const Point &corner) const override {
        if (entries_.empty()) return;
        drawing.text({corner.x, corner.y + 14}, "Legend", style::heading);
        double y = corner.y + heading_height + 10;
        for (const Entry &entry : entries_) {
            Font font = at_start(style::body);
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

private:
    static constexpr double words_at = 56, pitch = 22;
    enum class Look {
        line,
        cell,
        text
    };
    struct Entry {
        Look look;
        svg::Stroke stroke;
        std::string words;
    };
    void add(Look look, const svg::Stroke &stroke, const std::string &words) {
        const bool there =
            std::any_of(entries_.begin(), entries_.end(), [&](const Entry &entry) { return entry.words == words; });
        if (!there) entries_.push_back({look, stroke, words});
    }
    static std::string words_of(int links, int mbps) {
        std::string text = links > 0 ? fmt::format("NV{}: {} NVLink{}", links, links, links == 1 ? "" : "s")
                                     : "NV?: NVLinks, not known how many";
        if (mbps > 0) text += fmt::format(", {} GB/s", gbps_text(mbps));
        return text;
    }
    void add_nvlinks(const Machine &machine) {
        const std::vector<DirectLink> direct = direct_links(machine);
        const int best = strongest(direct);
        std::vector<DirectLink> sorted = direct;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const DirectLink &a, const DirectLink &b) { return a.links > b.links; });
        for (const DirectLink &link : sorted) {
            const LinkLook look = look_of(link, best);
            add(Look::line, {look.color, look.width}, words_of(link.links, link.mbps));
        }
        for (const FabricLink &link : fabric_links(machine)) {
            int mbps = 0;
            for (std::size_t other = 0; other < machine.graph.gpus; ++other) {
                const Pair &pair = machine.graph.pair(static_cast<std::size_t>(link.gpu), other);
                if (pair.links == link.links && pair.nominal_mbps.known()) mbps = pair.nominal_mbps.value;
            }
            const LinkLook look = look_of_fabric(link.links);
            add(Look::line, {look.color, look.width}, words_of(link.links, mbps) + " to NVSwitches");
        }
    }
    void add_lines(const Machine &machine, bool processor_links) {
        const std::vector<const Pair *> edges = ring_edges(machine);
        const auto in_ring = [&](std::string_view color) {
            return std::any_of(edges.begin(), edges.end(),
                               [&](const Pair *edge) { return line_color(edge->kind.value) == color; });
        };
        const bool devices = !machine.snapshot.nics.empty() || (!machine.snapshot.gpus.empty() && !is_host(machine));
        if (std::any_of(edges.begin(), edges.end(), [](const Pair *edge) { return edge->kind.value == LinkKind::C2C; }))
            add(Look::line, {style::nvlink_strong, 4}, "NVLink-C2C");
        if (in_ring(style::slices_line)) add(Look::line, {style::slices_line, 4}, "between slices of one GPU");
        if (devices || in_ring(style::pcie_line)) add(Look::line, {style::pcie_line, 3}, "PCI Express, by bandwidth");
        if (processor_links || in_ring(style::socket_line))
            add(Look::line, {style::socket_line, 3}, "between processors (NUMA)");
        if (in_ring(style::unknown_line)) add(Look::line, {style::unknown_line, 4}, "nobody tells how");
        for (const Pair *edge : edges)
            if (is_worst(machine, *edge))
                add(Look::line, {line_color(edge->kind.value), 4, dashes}, "dashed: the ring at its worst");
    }
    void add_cells(const Machine &machine) {
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
    }
    void add_warnings(const Machine &machine) {
        const std::vector<FabricLink> fabric = fabric_links(machine);
        if (std::any_of(fabric.begin(), fabric.end(),
                        [&](const FabricLink &link) { return link.links != fabric[0].links; }))
            add(Look::text, {style::warning}, "red NV#: fewer NVLinks to switches than other GPUs");
        if (std::any_of(machine.graph.pairs.begin(), machine.graph.pairs.end(), refused))
            add(Look::text, {style::warning}, "red in the matrix: P2P is refused");
    }

    std::vector<Entry> entries_;
};

}  // namespace

std::vector<std::unique_ptr<Panel>> panels_for(const Machine &machine, bool processor_links) {
    std::vector<std::unique_ptr<Panel>> panels;
    if (machine.graph.gpus > 1) panels.push_back(std::make_unique<MatrixPanel>(machine));
    if (machine.gpus.ring.order.size() > 2) panels.push_back(std::make_unique<RingPanel>(machine));
    auto legend = std::make_unique<LegendPanel>(machine, processor_links);
    if (legend->height() > heading_height) panels.push_back(std::move(legend));
    return panels;
}

}  // namespace baton::topology::picture
