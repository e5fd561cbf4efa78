// Creation of a communicator: what it asks topology/, how its ranks are linked and what lies near this one.
#include <fmt/ranges.h>

#include "comm/comm_topology.hpp"
#include "comm/gpu_share.hpp"
#include "comm/links_of.hpp"
#include "comm/machine.hpp"
#include "comm/setup.hpp"
#include "util/log.hpp"

namespace baton::core {

/// Rank 0 reads the user's override and, for GPUs, the machine. (On host memory all pairs are alike, and hwloc takes
/// tens of milliseconds.) The others get what follows from them.
std::string Setup::settle_topology() {
    std::string text;
    meetings_.together([&] {
        if (view_.rank != 0) return;
        const std::optional<topology::Override> said = read_topology(config_.topology);
        const CommTopology found =
            gpus_.empty() ? host_topology(said, view_.size) : gpu_topology(said, machine(), uuids_of(gpus_));
        if (!found.note.empty()) log(LogLevel::info, 0, "{}", found.note);
        text = to_text(found);
    });
    const CommTopology found = comm_topology_from(bootstrap_.allgather_strings(text)[0]);
    capabilities_.links = found.links;
    parts_.placement =
        placement_at(found.localities.empty() ? nullptr : &found.localities[static_cast<std::size_t>(view_.rank)]);
    if (view_.rank == 0) log(LogLevel::debug, 0, "links are {}", describe(found.links));
    log(LogLevel::debug, view_.rank, "service thread and host memory near NUMA node {}, {}", parts_.placement.numa_node,
        parts_.placement.processors.empty()
            ? "not bound"
            : fmt::format("processors {}", fmt::join(parts_.placement.processors, ",")));
    return found.refusal;
}

}  // namespace baton::core
