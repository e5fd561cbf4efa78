#pragma once

#include <string>
#include <vector>

#include "topology/tool/picture_panels.hpp"

namespace baton::topology::picture {

/// Explains the lines, colors and abbreviations that the picture uses, and no others.
class LegendPanel final : public Panel {
public:
    LegendPanel(const Machine &machine, bool processor_links);

    bool empty() const { return entries_.empty(); }
    double width() const override;
    double height() const override;
    void draw(svg::Drawing &drawing, const svg::Point &corner) const override;

private:
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
    void add(Look look, const svg::Stroke &stroke, const std::string &words);
    void add_nvlinks(const Machine &machine);
    void add_lines(const Machine &machine, bool processor_links);
    void add_cells(const Machine &machine);
    void add_number(int links);
    void add_warnings(const Machine &machine);

    std::vector<Entry> entries_;
};

}  // namespace baton::topology::picture
