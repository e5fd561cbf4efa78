#pragma once

#include <string>
#include <vector>

#include "topology/tool/machine.hpp"
#include "topology/tool/svg.hpp"

namespace baton::topology::picture {

/// GPUs and NICs as cards: a bar with the name, and lines of text below it. All cards of a kind have one size, which
/// the longest text decides within limits.
class Cards {
public:
    /// Refers to `machine`.
    explicit Cards(const Machine &machine);

    double gpu_width() const { return gpu_width_; }
    double nic_width() const { return nic_width_; }
    /// `several_ports`: some card stands for several NICs.
    double height(bool several_ports) const;
    void draw_gpu(svg::Drawing &drawing, int gpu, const svg::Box &box) const;
    /// The NICs are ports of one card.
    void draw_nic(svg::Drawing &drawing, const std::vector<int> &nics, const svg::Box &box) const;

private:
    std::string gpu_name(int gpu) const;
    std::vector<std::string> gpu_lines(int gpu) const;

    const Machine &machine_;
    double gpu_width_, nic_width_;
    std::size_t most_lines_ = 2;
};

}  // namespace baton::topology::picture
