#pragma once

#include <map>
#include <string>
#include <vector>

#include "topology/tool/machine.hpp"
#include "topology/tool/picture_cards.hpp"
#include "topology/tool/svg.hpp"
#include "topology/tool/view.hpp"

/// Where sockets, NUMA nodes, switches and cards lie, and drawing them.
namespace baton::topology::picture {

/// Sockets side by side. All cards are in one line, at the lower edge or, turned over, at the upper one.
class Row {
public:
    Row(const Machine &machine, std::vector<SocketView> sockets, bool turned_over);

    double width() const { return width_; }
    double height() const { return height_; }

    void place(double x, double y);
    /// REQUIRES: place().
    void draw(svg::Drawing &drawing) const;

    bool turned_over() const { return turned_over_; }
    /// The box around all cards and the empty places between them.
    svg::Box cards() const;
    /// The box of each GPU in this row.
    const std::map<int, svg::Box> &gpu_boxes() const { return gpu_boxes_; }
    /// For each numbered socket (NUMA node, where sockets are not known): from where to where it reaches, at the height
    /// where lines to its neighbours end.
    const std::vector<svg::Box> &processors() const { return processors_; }

private:
    double width_of(const Branch &branch) const;
    double width_of(const std::vector<Branch> &branches) const;
    double width_of(const NodeView &node) const;
    double width_of(const SocketView &socket) const;
    svg::Box box(double x, double top, double width, double height) const;
    void place_branch(const Branch &branch, double x);
    void draw_branch(svg::Drawing &drawing, const Branch &branch, const svg::Box &parent, double x, double width,
                     int depth) const;
    void draw_device(svg::Drawing &drawing, const Branch &branch, const svg::Box &parent, double x) const;
    void draw_node(svg::Drawing &drawing, const NodeView &node, double x, double width) const;
    void wire(svg::Drawing &drawing, const svg::Box &parent, const svg::Box &child, int mbps) const;
    double bars_top() const;
    double switch_top(int depth) const;
    double cards_top() const;

    const Machine &machine_;
    Cards cards_;
    std::vector<SocketView> sockets_;
    bool turned_over_;
    bool named_sockets_ = false;
    int depth_ = 0;  // of switches
    double bar_height_ = 0, card_height_ = 0;
    double x_ = 0, y_ = 0, width_ = 0, height_ = 0;
    std::map<int, svg::Box> gpu_boxes_;
    std::vector<svg::Box> processors_;
};

}  // namespace baton::topology::picture
