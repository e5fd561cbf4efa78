#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "topology/advice.hpp"
#include "topology/snapshot.hpp"

/// Names of the enumerations' values, as files and tables write them.
namespace baton::topology {

std::string_view name_of(Source source);     ///< "nvml", "hwloc_xml", ...
std::string_view name_of(LinkKind kind);     ///< "NVSWITCH", "PIX", ...
std::string_view name_of(PciKind kind);      ///< "host_bridge", ...
std::string_view name_of(NicKind kind);      ///< "infiniband", ...
std::string_view name_of(FarEnd end);        ///< "hidden_switch", ...
std::string_view name_of(P2pStatus status);  ///< "not_supported", ...
std::string_view name_of(CommonAncestor ancestor);
std::string_view name_of(Advised transport);  ///< "kernel+ce", "ce", "host", "-"

/// The value of that name; empty for any other text.
template <class E>
std::optional<E> from_name(std::string_view name);

/// All names, for messages: "SELF, SAME_DEVICE, ...".
template <class E>
std::string all_names();

/// "1 row", "2 rows".
template <class N>
std::string counted(N count, const char *noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace baton::topology
