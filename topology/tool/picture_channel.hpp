#pragma once

#include <string>
#include <vector>

#include "topology/tool/machine.hpp"
#include "topology/tool/picture_links.hpp"
#include "topology/tool/picture_row.hpp"
#include "topology/tool/svg.hpp"

namespace baton::topology::picture {

/// The drawn NVLinks, below the only row or between the two rows.
class Channel {
public:
    /// `rows`: one or two, already placed horizontally.
    Channel(const Machine &machine, const std::vector<Row> &rows);

    double height() const;
    /// REQUIRES: the rows have their final places; the channel's upper edge is at `top`.
    void draw(svg::Drawing &drawing, double top) const;

private:
    struct Wire {
        DirectLink link;
        std::size_t from_row = 0, to_row = 0;
        double from_x = 0, to_x = 0;
        int track = -1;  // counted from the row's side; -1: straight
        bool crosses() const { return from_row != to_row; }
    };
    void make_wires();
    void give_ports();
    void straighten(Wire &wire) const;
    int give_tracks(const std::vector<Wire *> &wires);
    double track_y(const Wire &wire, double top) const;
    double label_x(const Wire &wire, double top) const;
    void draw_fabric(svg::Drawing &drawing, double top) const;
    void draw_wires(svg::Drawing &drawing, double top) const;
    const svg::Box &gpu_box(int gpu) const;
    std::size_t row_of(int gpu) const;

    const Machine &machine_;
    const std::vector<Row> &rows_;
    std::vector<Wire> wires_;
    std::string too_many_;  // the text in place of the wires; empty: they are drawn
    std::vector<FabricLink> fabric_;
    int upper_tracks_ = 0, lower_tracks_ = 0, middle_tracks_ = 0;
};

}  // namespace baton::topology::picture
