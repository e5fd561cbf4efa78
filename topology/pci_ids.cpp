#include "topology/pci_ids.hpp"

namespace baton::topology {

int nvlink_version_of_device(std::uint32_t device) {
    switch (device >> 8) {
        case 0x15:  // Pascal
            return 1;
        case 0x1d:  // Volta
        case 0x1e:  // Turing
            return 2;
        case 0x20:  // Ampere
        case 0x22:
            return 5;
        case 0x23:  // Hopper
            return 6;
        case 0x29:  // Blackwell
        case 0x2b:
        case 0x31:
            return 7;
    }
    return 0;
}

std::optional<int> pcie_link_mbps(std::string_view speed, int lanes) {
    struct Generation {
        std::string_view transfers;
        int lane_mbps;
    };
    static constexpr Generation generations[] = {{"2.5", 250}, {"5", 500},   {"8", 985},
                                                 {"16", 1969}, {"32", 3938}, {"64", 7563}};
    if (lanes < 1 || lanes > 64) return std::nullopt;
    for (const auto &[transfers, lane_mbps] : generations) {
        if (!speed.starts_with(transfers)) continue;
        std::string_view rest = speed.substr(transfers.size());
        if (rest.starts_with(".0")) rest.remove_prefix(2);
        if (rest.starts_with(" GT/s")) return lane_mbps * lanes;
    }
    return std::nullopt;
}

}  // namespace baton::topology
