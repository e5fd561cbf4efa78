#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "comm/breakage.hpp"
#include "comm/meetings.hpp"
#include "comm/parts.hpp"
#include "util/phases.hpp"

namespace baton::core {

/// The creation of a communicator: what the ranks agree on, step by step, and the layers that follow from it.
/// Everything that decides how calls run is the same on all ranks.
class Setup {
public:
    /// For `parts` that are empty but for the rank and the size in their view. `config` is resolved, and equal on all
    /// ranks.
    Setup(CommParts &parts, Bootstrap &bootstrap, Meetings &meetings, Breakage &breakage, const baton_config &config);

    /// Collective: fills the parts. Throws on all ranks if it fails on one. `phases` gets the steps' times.
    void run(Phases &phases);

private:
    // setup.cpp
    void settle_place();
    void share_processors(const std::vector<ProcessorBits> &processors);
    void set_up_executor();
    // setup_topology.cpp
    void settle_topology();
    // setup_tuning.cpp
    void settle_tuning();
    void settle_capabilities();
    // setup_memory.cpp
    void ask_for_access();
    void settle_memory();
    bool meet_in_device_memory();
    void meet_in_host_memory();
    void set_up_memory();
    void give_up_memory();
    void map_arenas();
    void share_arenas(const RegionRegistry::Allocation &arena);
    std::string probe_arenas();
    void settle_single_copy();
    void settle_staging();

    CommParts &parts_;
    CommView &view_;
    Capabilities &capabilities_;
    Bootstrap &bootstrap_;
    Meetings &meetings_;
    Breakage &breakage_;
    const baton_config &config_;
    std::vector<DeviceIdentity> gpus_;  // by rank; none on the host
    std::string no_p2p_;                // why ranks may not reach into each other's memory; empty if they may
};

}  // namespace baton::core
