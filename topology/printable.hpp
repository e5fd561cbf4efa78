#pragma once

#include <string>
#include <string_view>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// The text with '?' in place of what would steer a terminal, make text look like another one, or break a document:
/// control characters (C0 and C1), characters that only format (bidirectional overrides, invisible ones), and bytes
/// that are not UTF-8. `keep` is left as it is.
std::string printable(std::string_view text, char keep = '\0');

/// Makes all texts of a snapshot printable: names come from files and firmware.
void make_printable(Snapshot &snapshot);

}  // namespace baton::topology
