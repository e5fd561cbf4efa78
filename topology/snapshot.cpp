#include "topology/snapshot.hpp"

#include <fmt/format.h>

namespace baton::topology {

std::string to_string(const PciAddress &address) {
    return fmt::format("{:04x}:{:02x}:{:02x}.0", address.domain, address.bus, address.device);
}

}  // namespace baton::topology
