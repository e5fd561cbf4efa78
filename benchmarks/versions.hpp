#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "topology/snapshot.hpp"

namespace baton::bench {

/// What a measurement rests on: the block "versions" of the programs' JSON.
struct Versions {
    std::string baton;
    std::string cuda;    // "CUDA runtime 13.0, driver 13.0"
    std::string driver;  // of the system, "580.159.04"; empty if unknown
    std::string nccl;    // empty unless it was loaded
    std::string mpi;
};

/// The versions in use here, without NCCL.
Versions versions_on(const topology::Snapshot &machine);

nlohmann::ordered_json to_json(const Versions &versions);

}  // namespace baton::bench
