// What stands before and after the other parts of the text.
#include <fmt/format.h>

#include "topology/summary.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {

std::string header_text(const Machine &machine) {
    const Snapshot &snapshot = machine.snapshot;
    const std::string text = (shows_ranks(machine) ? "" : "GPUs: ") + gpus_text(snapshot) + driver_text(snapshot);
    return text + "\nHost: " + host_text(snapshot) + "\n";
}

std::string gaps_text(const Machine &machine) {
    std::string text;
    for (const std::string &gap : machine.snapshot.gaps) text += fmt::format("note: {}\n", gap);
    return text;
}

}  // namespace baton::topology
