#include "topology/tool/picture_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/tool/abbreviations.hpp"
#include "topology/tool/picture_style.hpp"

namespace baton::topology::picture {
namespace {

using svg::Box;

constexpr double track_pitch = 24, margin = 24;
constexpr double fabric_gap = 52, bar_with_chips = 62, bar_without = 38;
constexpr double port_margin = 12;
constexpr double longest_jog = 40;   // a wire whose ends are less apart is drawn straight,
constexpr double edge_margin = 4;    // unless it would touch the card's edge
constexpr double wire_gap = 12;      // between two on one track
constexpr double empty_height = 40;  // between two rows that nothing joins
constexpr double too_many_height = 48;

double fabric_height(const Machine &machine) {
    return machine.snapshot.nvswitches.empty() ? bar_without : bar_with_chips;
}

}  // namespace

Channel::Channel(const Machine &machine, const std::vector<Row> &rows)
    : machine_(machine), rows_(rows), fabric_(fabric_links(machine)) {
    make_wires();
    give_ports();
    std::vector<Wire *> upper, lower, middle;
    for (Wire &wire : wires_) {
        if (wire.crosses()) straighten(wire);
        (wire.crosses() ? middle : wire.from_row == 0 ? upper : lower).push_back(&wire);
    }
    std::erase_if(middle, [](const Wire *wire) { return wire->from_x == wire->to_x; });
    upper_tracks_ = give_tracks(upper);
    lower_tracks_ = give_tracks(lower);
    middle_tracks_ = give_tracks(middle);
}

std::size_t Channel::row_of(int gpu) const { return rows_[0].gpu_boxes().count(gpu) > 0 ? 0 : 1; }

const Box &Channel::gpu_box(int gpu) const { return rows_[row_of(gpu)].gpu_boxes().at(gpu); }

void Channel::make_wires() {
    const std::size_t pairs = direct_links(machine_).size();
    if (pairs > most_wires)
        too_many_ = fmt::format("{} pairs have NVLinks of their own, too many to draw: the matrix has them", pairs);
    for (const DirectLink &link : drawn_links(machine_)) {
        Wire wire{link, row_of(link.from), row_of(link.to)};
        if (wire.from_row > wire.to_row) {
            std::swap(wire.from_row, wire.to_row);
            std::swap(wire.link.from, wire.link.to);
        }
        wires_.push_back(wire);
    }
}

/// Orders the ports along a card's edge, from left to right: to neighbours on the left, the nearest first; to the other
/// row; to neighbours on the right, the nearest last. So the wires of one row nest instead of crossing.
void Channel::give_ports() {
    struct Port {
        int side = 0;  // -1 left, 0 the other row, 1 right
        double order = 0;
        double *x = nullptr;
    };
    std::map<int, std::vector<Port>> ports;
    for (Wire &wire : wires_) {
        const double from = gpu_box(wire.link.from).middle(), to = gpu_box(wire.link.to).middle();
        const auto add = [&](int gpu, double mine, double theirs, double *x) {
            const int side = wire.crosses() ? 0 : theirs < mine ? -1 : 1;
            ports[gpu].push_back({side, wire.crosses() ? theirs : -theirs, x});
        };
        add(wire.link.from, from, to, &wire.from_x);
        add(wire.link.to, to, from, &wire.to_x);
    }
    for (auto &[gpu, list] : ports) {
        std::stable_sort(list.begin(), list.end(), [](const Port &a, const Port &b) {
            return a.side != b.side ? a.side < b.side : a.order < b.order;
        });
        const Box &box = gpu_box(gpu);
        const double step = (box.width - 2 * port_margin) / static_cast<double>(list.size());
        // Half a step away from the ports of the row above: where two wires bend between the rows, one may come down
        // where the other goes on.
        const double shift = row_of(gpu) == 1 ? 0.75 : 0.25;
        for (std::size_t index = 0; index < list.size(); ++index)
            *list[index].x = box.x + port_margin + step * (static_cast<double>(index) + shift);
    }
}

/// Cards that lie one above the other are joined without a bend.
void Channel::straighten(Wire &wire) const {
    const Box &lower = gpu_box(wire.link.to);
    const bool is_short = std::abs(wire.from_x - wire.to_x) < longest_jog;
    if (is_short && wire.from_x > lower.x + edge_margin && wire.from_x < lower.right() - edge_margin)
        wire.to_x = wire.from_x;
}

/// Short wires lie nearest to the cards; wires on one track do not touch. Returns the number of tracks.
int Channel::give_tracks(const std::vector<Wire *> &wires) {
    std::vector<Wire *> order = wires;
    const auto left = [](const Wire *wire) { return std::min(wire->from_x, wire->to_x); };
    const auto right = [](const Wire *wire) { return std::max(wire->from_x, wire->to_x); };
    std::stable_sort(order.begin(), order.end(), [&](const Wire *a, const Wire *b) {
        const double length_a = std::round(right(a) - left(a)), length_b = std::round(right(b) - left(b));
        return length_a != length_b ? length_a < length_b : left(a) < left(b);
    });
    std::vector<std::vector<Wire *>> tracks;
    for (Wire *wire : order) {
        std::size_t track = 0;
        const auto taken = [&](const std::vector<Wire *> &others) {
            return std::any_of(others.begin(), others.end(), [&](const Wire *other) {
                return left(wire) < right(other) + wire_gap && left(other) < right(wire) + wire_gap;
            });
        };
        while (track < tracks.size() && taken(tracks[track])) ++track;
        if (track == tracks.size()) tracks.emplace_back();
        tracks[track].push_back(wire);
        wire->track = static_cast<int>(track);
    }
    return static_cast<int>(tracks.size());
}

double Channel::height() const {
    double height = 0;
    const int sides = rows_.size() > 1 ? 2 : 1;  // that cards lie on
    if (!wires_.empty()) height = sides * margin + track_pitch * (upper_tracks_ + lower_tracks_ + middle_tracks_);
    if (!too_many_.empty()) height += too_many_height;
    if (!fabric_.empty()) height += sides * fabric_gap + fabric_height(machine_);
    if (height == 0) return sides > 1 ? empty_height : 0;
    return height;
}

double Channel::track_y(const Wire &wire, double top) const {
    const double first = margin + track_pitch / 2;
    if (wire.track < 0) return top + height() / 2;
    if (wire.crosses()) return top + first + track_pitch * (upper_tracks_ + wire.track);
    if (wire.from_row == 0) return top + first + track_pitch * wire.track;
    return top + height() - first - track_pitch * wire.track;
}

void Channel::draw(svg::Drawing &drawing, double top) const {
    draw_wires(drawing, top);
    if (!too_many_.empty()) {
        const double half = svg::text_width(too_many_, style::heading) / 2;
        drawing.label({rows_[0].cards().x + half, top + too_many_height / 2}, too_many_, style::heading, style::paper);
    }
    if (!fabric_.empty()) draw_fabric(drawing, top);
}

/// The middle of the wire's level part, or the nearest place to it where no upright part of another wire runs.
double Channel::label_x(const Wire &wire, double top) const {
    const double y = track_y(wire, top);
    const double left = std::min(wire.from_x, wire.to_x), right = std::max(wire.from_x, wire.to_x);
    const auto hit = [&](double x) {
        return std::any_of(wires_.begin(), wires_.end(), [&](const Wire &other) {
            if (&other == &wire) return false;
            const double end = track_y(other, top);
            const auto passes = [&](std::size_t row, double at) {
                const bool reaches = other.from_x == other.to_x || (row == 0 ? y < end + 8 : y > end - 8);
                return reaches && std::abs(at - x) < 22;
            };
            return passes(other.from_row, other.from_x) || passes(other.to_row, other.to_x);
        });
    };
    const double middle = (left + right) / 2;
    for (double offset = 0; offset < (right - left) / 2 - 20; offset += 6)
        for (const double x : {middle - offset, middle + offset})
            if (!hit(x)) return x;
    return middle;
}

void Channel::draw_wires(svg::Drawing &drawing, double top) const {
    const int best = strongest(drawn_links(machine_));
    const auto edge = [&](int gpu, std::size_t row) {
        const Box &box = gpu_box(gpu);
        return rows_[row].turned_over() ? box.y : box.bottom();
    };
    for (const Wire &wire : wires_) {
        const LinkLook look = look_of(wire.link, best);
        const double y = track_y(wire, top);
        drawing.line({{wire.from_x, edge(wire.link.from, wire.from_row)},
                      {wire.from_x, y},
                      {wire.to_x, y},
                      {wire.to_x, edge(wire.link.to, wire.to_row)}},
                     {look.color, look.width});
    }
    for (const Wire &wire : wires_)
        drawing.label({label_x(wire, top), track_y(wire, top)}, short_kind(LinkKind::NVLINK, wire.link.links),
                      style::on_link, style::paper);
}

void Channel::draw_fabric(svg::Drawing &drawing, double top) const {
    double left = rows_[0].cards().x, right = rows_[0].cards().right();
    for (const Row &row : rows_) {
        left = std::min(left, row.cards().x);
        right = std::max(right, row.cards().right());
    }
    int most = 0;
    for (const FabricLink &link : fabric_) most = std::max(most, link.links);
    const auto &switches = machine_.snapshot.nvswitches;
    const double tall = fabric_height(machine_);
    const Box bar{left, top + (rows_.size() > 1 ? (height() - tall) / 2 : height() - tall), right - left, tall};
    for (const FabricLink &link : fabric_) {
        const Box &box = gpu_box(link.gpu);
        const bool below = rows_[row_of(link.gpu)].turned_over();
        const double from = below ? box.y : box.bottom(), to = below ? bar.bottom() : bar.y;
        const LinkLook look = look_of_fabric(link.links);
        drawing.line({{box.middle(), from}, {box.middle(), to}}, {look.color, look.width});
        svg::Font font = style::on_link;
        if (link.links < most) font.fill = style::warning;
        drawing.label({box.middle(), from + 0.66 * (to - from)}, short_kind(LinkKind::NVSWITCH, link.links), font,
                      style::paper);
    }
    drawing.rect(bar, 8, style::fabric_fill, {style::gpu_bar, 1.5});
    svg::Font font = style::heading;
    font.anchor = svg::Anchor::middle;
    if (switches.empty()) {
        drawing.text({bar.middle(), bar.y + 24},
                     svg::shortened("NVSwitches (hidden from this system)", bar.width, font), font);
        return;
    }
    drawing.text({bar.middle(), bar.y + 20},
                 fmt::format("{} NVSwitch{}", switches.size(), switches.size() == 1 ? "" : "es"), font);
    const double step = (bar.width - 16) / static_cast<double>(switches.size());
    const double width = std::min(step - 6, 110.0);
    for (std::size_t index = 0; index < switches.size(); ++index) {
        const Box chip{bar.x + 8 + step * static_cast<double>(index) + (step - width) / 2, bar.y + 30, width, 22};
        drawing.rect(chip, 4, style::fabric_chip, {});
        const std::string text = switches[index].pci.known() ? short_address(switches[index].pci.value) : "?";
        svg::Font white = style::on_bar;
        white.size = 11;
        drawing.text({chip.middle(), chip.y + 15},
                     svg::text_width(text, white) > width ? fmt::format("{}", index) : text, white);
    }
}

}  // namespace baton::topology::picture
