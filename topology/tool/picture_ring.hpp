#pragma once

#include <string_view>
#include <vector>

#include "topology/tool/picture_panels.hpp"

/// The ring over all GPUs, as a circle, and what its lines say.
namespace baton::topology::picture {

class RingPanel final : public Panel {
public:
    /// Refers to `machine`. REQUIRES: a ring of more than two.
    explicit RingPanel(const Machine &machine);

    double width() const override;
    double height() const override;
    void draw(svg::Drawing &drawing, const svg::Point &corner) const override;

private:
    svg::Point place_of(const svg::Point &center, std::size_t index) const;
    void draw_words(svg::Drawing &drawing, const svg::Point &center) const;

    const Machine &machine_;
    std::size_t count_ = 0;
    double radius_ = 0;
};

/// The pairs that follow each other in the ring; none where it is not drawn.
std::vector<const Pair *> ring_edges(const Machine &machine);
std::string_view line_color(LinkKind kind);
/// Whether the edge is drawn as the ring's worst, in worst_dashes.
bool is_worst(const Machine &machine, const Pair &edge);
inline constexpr std::string_view worst_dashes = "7 6";

}  // namespace baton::topology::picture
