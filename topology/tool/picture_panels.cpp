#include "topology/tool/picture_panels.hpp"

#include "topology/tool/picture_legend.hpp"
#include "topology/tool/picture_matrix.hpp"
#include "topology/tool/picture_ring.hpp"

namespace baton::topology::picture {

std::vector<std::unique_ptr<Panel>> panels_for(const Machine &machine, bool processor_links) {
    std::vector<std::unique_ptr<Panel>> panels;
    if (machine.graph.gpus > 1) panels.push_back(std::make_unique<MatrixPanel>(machine));
    if (machine.gpus.ring.order.size() > 2) panels.push_back(std::make_unique<RingPanel>(machine));
    auto legend = std::make_unique<LegendPanel>(machine, processor_links);
    if (!legend->empty()) panels.push_back(std::move(legend));
    return panels;
}

}  // namespace baton::topology::picture
