#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
    /// `parts` are empty, except for the rank and the size in their view. `config` is resolved, and equal on all ranks.
    Setup(CommParts &parts, Bootstrap &bootstrap, Meetings &meetings, Breakage &breakage, const baton_config &config);

    /// Collective: fills the parts. Throws on all ranks if it fails on one. `phases` gets the steps' times.
    void run(Phases &phases);

private:
    // Functions that return a text say why ranks may not reach into each other's memory; empty: nothing speaks against
    // it. `no_p2p`: what has been found so far.

    // setup.cpp
    std::string settle_devices();
    void set_up_executor();
    // setup_topology.cpp
    std::string settle_topology();
    // setup_tuning.cpp
    void settle_capabilities(bool reach_each_other);
    void settle_tuning(bool reach_each_other);
    // setup_memory.cpp
    std::string ask_for_access();
    void settle_memory(std::string no_p2p);
    std::string meet_in_device_memory();
    void meet_in_host_memory(const std::string &no_p2p);
    void set_up_memory(const std::function<std::unique_ptr<MemoryDomain>()> &make_domain);
    void give_up_memory();
    void map_arenas();
    void share_arenas(const RegionRegistry::Allocation &arena);
    std::string probe_arenas();
    void settle_single_copy(const std::string &no_p2p);

    CommParts &parts_;
    CommView &view_;
    Capabilities &capabilities_;
    Bootstrap &bootstrap_;
    Meetings &meetings_;
    Breakage &breakage_;
    const baton_config &config_;
    std::vector<DeviceIdentity> gpus_;  // by rank; none on the host
};

}  // namespace baton::core
