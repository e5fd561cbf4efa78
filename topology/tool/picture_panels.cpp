#include "topology/tool/picture_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "topology/tool/picture_links.hpp"
#include "topology/tool/picture_style.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology::picture {
namespace {

using svg::Box;
using svg::Font;
using svg::Point;

constexpr double heading_height = 26;

bool nvlink(LinkKind kind) { return kind == LinkKind::NVLINK || kind == LinkKind::NVSWITCH || kind == LinkKind::C2C; }

std::string_view fill_of(const Pair &pair, int best) {
    if (nvlink(pair.kind.value)) {
        if (!pair.nominal_mbps.known() || pair.nominal_mbps.value >= best) return "#b9dfa0";
        return 2 * pair.nominal_mbps.value > best ? "#d3ebc3" : "#e8f5df";
    }
    switch (pair.kind.value) {
        case LinkKind::SAME_DEVICE:
            return "#b9dfa0";
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

std::string_view line_color(LinkKind kind) {
    if (nvlink(kind) || kind == LinkKind::SAME_DEVICE) return style::nvlink_strong;
    return kind == LinkKind::SYS || kind == LinkKind::NONE ? style::socket_line : style::pcie_line;
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
    explicit MatrixPanel(const Graph &graph) : graph_(graph) {
        for (const Pair &pair : graph.pairs) {
            if (pair.nominal_mbps.known()) best_ = std::max(best_, pair.nominal_mbps.value);
            measured_ = measured_ || pair.measured_mbps.known();
        }
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
        drawing.begin_group(fmt::format("GPU {} to GPU {}: {}", from, to, pair.why));
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
    int best_ = 0;
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
        for (std::size_t index = 0; index < count_; ++index) {
            const Pair &pair = machine_.graph.pair(static_cast<std::size_t>(ring.order[index]),
                                                   static_cast<std::size_t>(ring.order[(index + 1) % count_]));
            const bool worst = pair.kind.value == ring.bottleneck_kind && !machine_.gpus.uniform;
            drawing.line({at(center, index), at(center, index + 1)},
                         {line_color(pair.kind.value), 4, worst && !nvlink(pair.kind.value) ? "7 6" : ""});
        }
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

class LegendPanel final : public Panel {
public:
    explicit LegendPanel(const Machine &machine) {
        add_nvlinks(machine);
        if (!machine.snapshot.gpus.empty() || !machine.snapshot.nics.empty())
            entries_.push_back({style::pcie_line, 3, "PCI Express, by bandwidth"});
        if (machine.snapshot.host.packages > 1 || machine.snapshot.host.numa_nodes > 1)
            entries_.push_back({style::socket_line, 3, "between processors (NUMA)"});
        for (const Pair &pair : machine.graph.pairs)
            if (refused(pair)) {
                entries_.push_back({style::warning, 0, "red: P2P is refused"});
                break;
            }
    }
    double width() const override {
        double widest = 0;
        for (const Entry &entry : entries_) widest = std::max(widest, svg::text_width(entry.words, style::body));
        return words_at + widest;
    }
    double height() const override { return heading_height + 24 * static_cast<double>(entries_.size()); }
    void draw(svg::Drawing &drawing, const Point &corner) const override {
        if (entries_.empty()) return;
        drawing.text({corner.x, corner.y + 14}, "Legend", style::heading);
        double y = corner.y + heading_height + 10;
        for (const Entry &entry : entries_) {
            if (entry.width > 0) drawing.line({{corner.x + 4, y}, {corner.x + 44, y}}, {entry.color, entry.width});
            Font font = at_start(style::body);
            if (entry.width == 0) font.fill = entry.color;
            drawing.text({corner.x + words_at, y + 4}, entry.words, font);
            y += 24;
        }
    }

private:
    static constexpr double words_at = 56;
    struct Entry {
        std::string_view color;
        double width;
        std::string words;
    };
    void add(const LinkLook &look, const std::string &words) {
        const bool there =
            std::any_of(entries_.begin(), entries_.end(), [&](const Entry &entry) { return entry.words == words; });
        if (!there) entries_.push_back({look.color, look.width, words});
    }
    static std::string words_of(int links, int mbps) {
        std::string text = links > 0 ? fmt::format("NV{}: {} NVLink{}", links, links, links == 1 ? "" : "s") : "NVLink";
        if (mbps > 0) text += fmt::format(", {} GB/s", gbps_text(mbps));
        return text;
    }
    void add_nvlinks(const Machine &machine) {
        const std::vector<DirectLink> direct = direct_links(machine);
        const int best = strongest(direct);
        std::vector<DirectLink> sorted = direct;
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const DirectLink &a, const DirectLink &b) { return a.links > b.links; });
        for (const DirectLink &link : sorted) add(look_of(link, best), words_of(link.links, link.mbps));
        for (const FabricLink &link : fabric_links(machine)) {
            int mbps = 0;
            for (std::size_t other = 0; other < machine.graph.gpus; ++other) {
                const Pair &pair = machine.graph.pair(static_cast<std::size_t>(link.gpu), other);
                if (pair.links == link.links && pair.nominal_mbps.known()) mbps = pair.nominal_mbps.value;
            }
            add(look_of_fabric(link.links), words_of(link.links, mbps) + " to NVSwitches");
        }
    }

    std::vector<Entry> entries_;
};

}  // namespace

std::vector<std::unique_ptr<Panel>> panels_for(const Machine &machine) {
    std::vector<std::unique_ptr<Panel>> panels;
    if (machine.graph.gpus > 1) panels.push_back(std::make_unique<MatrixPanel>(machine.graph));
    if (machine.gpus.ring.order.size() > 2) panels.push_back(std::make_unique<RingPanel>(machine));
    auto legend = std::make_unique<LegendPanel>(machine);
    if (legend->height() > heading_height) panels.push_back(std::move(legend));
    return panels;
}

}  // namespace baton::topology::picture
