#include "topology/tool/picture_row.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/tool/picture_style.hpp"

namespace baton::topology::picture {
namespace {

using svg::Box;

constexpr double gap = 10, pad = 12;
constexpr double socket_gap = 44;
constexpr double socket_title = 22;
constexpr double node_bar = 24, node_detail_height = 16;
constexpr double wire_height = 20, switch_height = 24;
constexpr double smallest_node = 150;

int depth_of(const Branch &branch) {
    int depth = 0;
    for (const Branch &child : branch.children) depth = std::max(depth, depth_of(child));
    return branch.children.empty() ? 0 : depth + 1;
}

bool any_shared_card(const Branch &branch) {
    return branch.nics.size() > 1 || std::any_of(branch.children.begin(), branch.children.end(),
                                                 [](const Branch &child) { return any_shared_card(child); });
}

std::string node_title(const NodeView &node) {
    return node.os_index >= 0 ? fmt::format("NUMA node {}", node.os_index) : "NUMA node unknown";
}

std::string node_detail(const NodeView &node) {
    std::string text = node.cpuset.empty() ? "" : "CPUs " + node.cpuset;
    if (node.memory_bytes > 0) text += fmt::format("{}{} GiB", text.empty() ? "" : ", ", node.memory_bytes >> 30U);
    return text;
}

double line_width(int mbps) { return mbps <= 0 ? 4.0 : std::clamp(1.5 + mbps / 1000.0 / 12, 1.5, 8.0); }

}  // namespace

Row::Row(const Machine &machine, std::vector<SocketView> sockets, bool turned_over)
    : machine_(machine), cards_(machine), sockets_(std::move(sockets)), turned_over_(turned_over) {
    bool several_ports = false;
    for (SocketView &socket : sockets_) {
        named_sockets_ = named_sockets_ || socket.index >= 0;
        width_ += (width_ > 0 ? socket_gap : 0);
        for (NodeView &node : socket.nodes) {
            node.branches = without_switches(node.branches);
            for (const Branch &branch : node.branches) {
                depth_ = std::max(depth_, depth_of(branch));
                several_ports = several_ports || any_shared_card(branch);
            }
        }
        width_ += width_of(socket);
    }
    bar_height_ = node_bar;
    for (const SocketView &socket : sockets_)
        for (const NodeView &node : socket.nodes)
            if (!node_detail(node).empty()) bar_height_ = node_bar + node_detail_height;
    card_height_ = cards_.height(several_ports);
    height_ = cards_top() + card_height_ + 2 * pad;
}

double Row::width_of(const std::vector<Branch> &branches) const {
    double width = 0;
    for (const Branch &branch : branches) width += (width > 0 ? gap : 0) + width_of(branch);
    return width;
}

double Row::width_of(const Branch &branch) const {
    if (!branch.children.empty()) return width_of(branch.children);
    const auto slices = static_cast<double>(branch.gpus.size());
    return branch.gpus.empty() ? cards_.nic_width() : slices * cards_.gpu_width() + (slices - 1) * gap;
}

double Row::width_of(const NodeView &node) const {
    double width = std::max(smallest_node, width_of(node.branches) + 2 * pad);
    width = std::max(width, svg::text_width(node_title(node), style::on_bar) + 2 * pad);
    return std::max(width, std::min(260.0, svg::text_width(node_detail(node), style::small) + 2 * pad));
}

double Row::width_of(const SocketView &socket) const {
    double width = 2 * pad;
    for (const NodeView &node : socket.nodes) width += width_of(node);
    return width + gap * static_cast<double>(std::max<std::size_t>(socket.nodes.size(), 1) - 1);
}

/// From the row's upper edge (lower, turned over) to the cards.
double Row::cards_top() const { return switch_top(depth_); }

double Row::bars_top() const { return named_sockets_ ? socket_title : pad; }

double Row::switch_top(int depth) const {
    return bars_top() + bar_height_ + wire_height + depth * (switch_height + wire_height);
}

Box Row::box(double x, double top, double width, double height) const {
    return {x_ + x, turned_over_ ? y_ + height_ - top - height : y_ + top, width, height};
}

Box Row::cards() const { return box(2 * pad, cards_top(), width_ - 4 * pad, card_height_); }

void Row::place(double x, double y) {
    x_ = x;
    y_ = y;
    gpu_boxes_.clear();
    processors_.clear();
    double left = 0;
    for (const SocketView &socket : sockets_) {
        double node_left = left + pad;
        const Box bar = box(node_left, bars_top(), width_of(socket) - 2 * pad, bar_height_);
        if (socket.index >= 0 || socket.nodes.front().os_index >= 0)
            processors_.push_back({bar.x, bar.y + bar.height / 2, bar.width, 0});
        for (const NodeView &node : socket.nodes) {
            double at = node_left + (width_of(node) - width_of(node.branches)) / 2;
            for (const Branch &branch : node.branches) {
                place_branch(branch, at);
                at += width_of(branch) + gap;
            }
            node_left += width_of(node) + gap;
        }
        left += width_of(socket) + socket_gap;
    }
}

void Row::place_branch(const Branch &branch, double x) {
    for (const Branch &child : branch.children) {
        place_branch(child, x);
        x += width_of(child) + gap;
    }
    for (const int gpu : branch.gpus) {
        gpu_boxes_[gpu] = box(x, cards_top(), cards_.gpu_width(), card_height_);
        x += cards_.gpu_width() + gap;
    }
}

void Row::draw(svg::Drawing &drawing) const {
    double left = 0;
    for (const SocketView &socket : sockets_) {
        const Box outline = box(left, 0, width_of(socket), height_);
        if (named_sockets_) {
            drawing.rect(outline, 10, style::socket_fill, {style::socket_edge, 1});
            const std::string name = socket.index >= 0 ? fmt::format("Socket {}", socket.index) : "No socket known";
            const Box title = box(left, 0, outline.width, socket_title);
            drawing.text({outline.x + pad, title.y + 15}, name, style::body);
        }
        double node_left = left + pad;
        for (const NodeView &node : socket.nodes) {
            draw_node(drawing, node, node_left, width_of(node));
            node_left += width_of(node) + gap;
        }
        left += outline.width + socket_gap;
    }
}

void Row::draw_node(svg::Drawing &drawing, const NodeView &node, double x, double width) const {
    const double top = bars_top();
    const Box outline = box(x, top, width, height_ - top - pad);
    drawing.rect(outline, 6, style::node_fill, {style::node_edge, 1});
    const Box bar = box(x, top, width, bar_height_);
    drawing.rect(bar, 6, style::node_bar, {});
    const std::string detail = svg::shortened(node_detail(node), width - 8, style::small);
    const double first = bar.y + (bar_height_ - (detail.empty() ? 0 : node_detail_height)) / 2 + 4.5;
    drawing.text({bar.middle(), first}, node_title(node), style::on_bar);
    svg::Font below = style::small;
    below.fill = style::node_bar_faint;
    if (!detail.empty()) drawing.text({bar.middle(), first + 15}, detail, below);

    double at = x + (width - width_of(node.branches)) / 2;
    for (const Branch &branch : node.branches) {
        draw_branch(drawing, branch, bar, at, width_of(branch), 0);
        at += width_of(branch) + gap;
    }
}

void Row::wire(svg::Drawing &drawing, const Box &parent, const Box &child, int mbps) const {
    const double from = turned_over_ ? parent.y : parent.bottom(), to = turned_over_ ? child.bottom() : child.y;
    drawing.line({{child.middle(), from}, {child.middle(), to}}, {style::pcie_line, line_width(mbps)});
}

void Row::draw_branch(svg::Drawing &drawing, const Branch &branch, const Box &parent, double x, double width,
                      int depth) const {
    if (branch.children.empty()) return draw_device(drawing, branch, parent, x);
    const Box outline = box(x, switch_top(depth), width, switch_height);
    wire(drawing, parent, outline, branch.mbps);
    double at = x;
    for (const Branch &child : branch.children) {
        draw_branch(drawing, child, outline, at, width_of(child), depth + 1);
        at += width_of(child) + gap;
    }
    const bool host = branch.kind == PciKind::host_bridge;
    drawing.rect(outline, 4, style::switch_fill, {style::switch_edge, 1});
    drawing.text({outline.middle(), outline.y + 16}, host ? "PCIe host bridge" : "PCIe switch", style::small);
}

void Row::draw_device(svg::Drawing &drawing, const Branch &branch, const Box &parent, double x) const {
    if (branch.gpus.empty()) {
        const Box card = box(x, cards_top(), cards_.nic_width(), card_height_);
        wire(drawing, parent, card, branch.mbps);
        return cards_.draw_nic(drawing, branch.nics, card);
    }
    const Box whole{gpu_boxes_.at(branch.gpus.front()).x, 0,
                    gpu_boxes_.at(branch.gpus.back()).right() - gpu_boxes_.at(branch.gpus.front()).x, 0};
    Box end = gpu_boxes_.at(branch.gpus.front());
    end.x = whole.x;
    end.width = whole.width;
    if (!shows_ranks(machine_)) wire(drawing, parent, end, branch.mbps);
    if (branch.gpus.size() > 1)
        drawing.rect({end.x - 4, end.y - 4, end.width + 8, end.height + 8}, 8, style::fabric_fill,
                     {style::gpu_bar, 1, "4 3"});
    for (const int gpu : branch.gpus) cards_.draw_gpu(drawing, gpu, gpu_boxes_.at(gpu));
}

}  // namespace baton::topology::picture
