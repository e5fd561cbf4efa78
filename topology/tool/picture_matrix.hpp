#pragma once

#include <string>
#include <string_view>

#include "topology/tool/picture_panels.hpp"

/// The matrix of pairs, and what its colors say.
namespace baton::topology::picture {

class MatrixPanel final : public Panel {
public:
    /// Refers to `machine`.
    explicit MatrixPanel(const Machine &machine);

    double width() const override;
    double height() const override;
    void draw(svg::Drawing &drawing, const svg::Point &corner) const override;

private:
    void draw_cell(svg::Drawing &drawing, std::size_t from, std::size_t to, const svg::Box &box) const;

    const Graph &graph_;
    const char *noun_;
    int best_;
    bool measured_ = false;
    double cell_width_ = 0;
};

/// The largest nominal bandwidth of any pair; 0 where none is known.
int best_nominal(const Graph &graph);
/// A cell's color. `best`: best_nominal().
std::string_view fill_of(const Pair &pair, int best);
/// What a cell's color and abbreviation mean. The number of NVLinks has a line of its own.
std::string words_of_cell(const Pair &pair, std::string_view fill);

}  // namespace baton::topology::picture
