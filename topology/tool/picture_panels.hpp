#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topology/tool/machine.hpp"
#include "topology/tool/svg.hpp"

/// What stands below the machine: the matrix of pairs, the ring, the legend.
namespace baton::topology::picture {

inline constexpr double heading_height = 26;

class Panel {
public:
    virtual ~Panel() = default;
    virtual double width() const = 0;
    virtual double height() const = 0;
    virtual void draw(svg::Drawing &drawing, const svg::Point &corner) const = 0;
};

/// The panels that have something to show. They refer to `machine`. `processor_links`: the picture has lines between
/// processors.
std::vector<std::unique_ptr<Panel>> panels_for(const Machine &machine, bool processor_links);

/// Columns side by side; in each, panels one below the other.
using Columns = std::vector<std::vector<std::unique_ptr<Panel>>>;

}  // namespace baton::topology::picture
