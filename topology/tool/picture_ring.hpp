#pragma once

#include <string_view>
#include <vector>

#include "topology/tool/picture_panels.hpp"

/// The ring over all GPUs as a circle, and what its lines mean.
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

    const Machine &machine_;
    std::size_t count_ = 0;
    double radius_ = 0, depth_ = 0;  // depth_: from the center down to the lowest place
};

/// Two GPUs that follow each other in the ring.
struct RingEdge {
    LinkKind kind = LinkKind::NONE;
    bool worst = false;  ///< none is worse, and others are better

    svg::Stroke stroke() const;
};
/// Empty if no ring is drawn.
std::vector<RingEdge> ring_edges(const Machine &machine);
std::string_view line_color(LinkKind kind);

}  // namespace baton::topology::picture
