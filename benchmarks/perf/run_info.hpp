#pragma once

#include <map>
#include <string>
#include <vector>

#include "environment.hpp"
#include "peers/peer.hpp"
#include "versions.hpp"

namespace baton::bench::perf {

/// What ran where. No host name. Complete on rank 0.
struct RunInfo {
    std::string date;  // UTC, "2026-11-20"
    Versions versions;
    std::vector<std::string> gpus;  // one for each rank; empty on the host
    int processors_of_a_rank = 0;   // the fewest that any rank may run on: mpirun may bind them
    // Rank 0's variables of Baton and NCCL: a command alone does not say under which settings it ran.
    std::map<std::string, std::string> environment;
    std::vector<std::string> lines;  // the same for people, with ranks, transport and links
};

/// Collective.
RunInfo describe_run(const Communicator &communicator, const Peers &peers);

}  // namespace baton::bench::perf
