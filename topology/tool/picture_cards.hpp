#pragma once

#include <string>
#include <vector>

#include "topology/tool/machine.hpp"
#include "topology/tool/svg.hpp"

namespace baton::topology::picture {

/// GPUs and NICs as cards: a bar with the name, below it lines of text. All cards of a kind have one size.
class Cards {
public:
    /// Refers to `machine`.
    explicit Cards(const Machine &machine);

    double gpu_width() const;
    double nic_width() const;
    /// `several_ports`: some card is of several NICs.
    double height(bool several_ports) const;
    void draw_gpu(svg::Drawing &drawing, int gpu, const svg::Box &box) const;
    /// The NICs are ports of one card.
    void draw_nic(svg::Drawing &drawing, const std::vector<int> &nics, const svg::Box &box) const;

private:
    std::vector<std::string> gpu_lines(int gpu) const;

    const Machine &machine_;
    std::size_t most_lines_ = 2;
};

}  // namespace baton::topology::picture
