#pragma once

#include <string_view>
#include <vector>

#include "topology/tool/machine.hpp"

/// Which NVLinks the picture draws, and how they look.
namespace baton::topology::picture {

/// Whether the kind is NVLink in any form.
bool drawn_as_nvlink(LinkKind kind);

/// NVLinks that join two GPUs without a switch.
struct DirectLink {
    int from = 0, to = 0;  ///< from < to
    int links = 0;         ///< 0: number unknown
    int mbps = 0;          ///< 0: unknown
};
std::vector<DirectLink> direct_links(const Machine &machine);
/// direct_links(), or none if there are more than most_wires: they would fill a page that nobody can look at, and the
/// matrix has them.
std::vector<DirectLink> drawn_links(const Machine &machine);
inline constexpr std::size_t most_wires = 500;

/// NVLinks of a GPU to switches.
struct FabricLink {
    int gpu = 0;
    int links = 0;
};
std::vector<FabricLink> fabric_links(const Machine &machine);

struct LinkLook {
    std::string_view color;
    double width = 0;
};
/// `strongest`: the largest bandwidth of any direct link of the machine.
LinkLook look_of(const DirectLink &link, int strongest);
int strongest(const std::vector<DirectLink> &links);
LinkLook look_of_fabric(int links);

}  // namespace baton::topology::picture
