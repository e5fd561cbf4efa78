#include "topology/snapshot.hpp"

#include <fmt/format.h>

namespace baton::topology {

std::string_view source_name(Source source) {
    switch (source) {
        case Source::none:
            return "none";
        case Source::nvml:
            return "nvml";
        case Source::cuda:
            return "cuda";
        case Source::hwloc:
            return "hwloc";
        case Source::sysfs:
            return "sysfs";
        case Source::table:
            return "table";
    }
    return "none";
}

std::string_view link_kind_name(LinkKind kind) {
    switch (kind) {
        case LinkKind::SELF:
            return "SELF";
        case LinkKind::SAME_DEVICE:
            return "SAME_DEVICE";
        case LinkKind::NVLINK:
            return "NVLINK";
        case LinkKind::NVSWITCH:
            return "NVSWITCH";
        case LinkKind::C2C:
            return "C2C";
        case LinkKind::PIX:
            return "PIX";
        case LinkKind::PXB:
            return "PXB";
        case LinkKind::PHB:
            return "PHB";
        case LinkKind::NODE:
            return "NODE";
        case LinkKind::SYS:
            return "SYS";
        case LinkKind::NONE:
            return "NONE";
    }
    return "NONE";
}

std::string to_string(const PciAddress &address) {
    return fmt::format("{:04x}:{:02x}:{:02x}.0", address.domain, address.bus, address.device);
}

}  // namespace baton::topology
