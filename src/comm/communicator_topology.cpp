// What a communicator asks topology/ at its creation: how its ranks are linked, and what lies near this one.
#include "comm/comm_topology.hpp"
#include "comm/communicator.hpp"
#include "comm/links_of.hpp"
#include "comm/machine.hpp"
#include "util/log.hpp"

namespace baton::core {

/// Rank 0 reads the user's override and, for GPUs, the machine (on host memory all pairs are alike, and hwloc takes
/// tens of milliseconds); the others get what follows from them.
void Communicator::settle_topology(const baton_config &config, const std::vector<DeviceIdentity> &gpus) {
    std::string text;
    together([&] {
        if (view_.rank != 0) return;
        const std::optional<topology::Override> said = read_topology(config.topology);
        std::vector<std::string> uuids;
        for (const DeviceIdentity &gpu : gpus) uuids.push_back(gpu.uuid);
        const CommTopology found =
            gpus.empty() ? host_topology(said, view_.size) : gpu_topology(said, machine(), uuids);
        if (!found.note.empty()) log(LogLevel::info, 0, "{}", found.note);
        text = to_text(found);
    });
    const CommTopology found = comm_topology_from(bootstrap_->allgather_strings(text)[0]);
    capabilities_.links = found.links;
    if (no_p2p_.empty()) no_p2p_ = found.refusal;
    placement_ = placement_at(found.places.empty() ? nullptr : &found.places[static_cast<std::size_t>(view_.rank)]);
    if (view_.rank == 0) log(LogLevel::debug, 0, "links are {}", describe(found.links));
    log(LogLevel::debug, view_.rank, "service thread and host memory near NUMA node {}, {}", placement_.numa_node,
        placement_.processors.empty() ? "not bound"
                                      : fmt::format("processors {}", fmt::join(placement_.processors, ",")));
}

}  // namespace baton::core
