#include "versions.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include "baton/baton.h"
#include "gpu.hpp"

namespace baton::bench {

namespace {

std::string mpi_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string version(text);
    return version.substr(0, version.find_first_of(",\n"));  // what follows names the machine that built it
}

}  // namespace

Versions versions_on(const topology::Snapshot &machine) {
    Versions versions;
    versions.baton = fmt::format("{}.{}.{} ({})", baton_version() / 10000, baton_version() / 100 % 100,
                                 baton_version() % 100, baton_build_id());
    versions.cuda = gpu::versions();
    versions.driver = machine.driver.known() ? machine.driver.value : "";
    versions.mpi = mpi_version();
    return versions;
}

nlohmann::ordered_json to_json(const Versions &versions) {
    return {{"baton", versions.baton},
            {"cuda", versions.cuda},
            {"driver", versions.driver},
            {"nccl", versions.nccl},
            {"mpi", versions.mpi}};
}

}  // namespace baton::bench
