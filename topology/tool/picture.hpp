#pragma once

#include <string>

#include "topology/tool/machine.hpp"

namespace baton::topology {

/// The machine as an SVG document: sockets with NUMA nodes, PCIe switches, GPUs and NICs; NVLinks drawn by width; the
/// matrix of pairs, the ring, and a legend. Deterministic.
std::string draw_picture(const Machine &machine);

}  // namespace baton::topology
