#include "perf/run_info.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "gpu.hpp"
#include "names.hpp"
#include "topology/discover.hpp"
#include "topology/printable.hpp"
#include "topology/summary.hpp"
#include "util/environment.hpp"

namespace baton::bench::perf {

namespace {

std::map<std::string, std::string> variables_of_libraries() {
    std::map<std::string, std::string> variables;
    for (char **variable = environ; *variable != nullptr; ++variable) {
        const std::string text = *variable;
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos && (text.starts_with("BATON_") || text.starts_with("NCCL_"))) {
            variables[text.substr(0, equals)] = text.substr(equals + 1);
        }
    }
    return variables;
}

/// Returns 0 if the machine has more processors than the set has places for.
int processors_of_this_rank() {
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 ? CPU_COUNT(&processors) : 0;
}

void add_ranks(RunInfo &run, const Communicator &communicator) {
    const baton_info &info = communicator.info();
    const std::string ranks = fmt::format("{} rank{}", info.size, info.size == 1 ? "" : "s");
    if (!communicator.on_gpu()) {
        run.lines.push_back(fmt::format("{} on host memory; transport host; {}", ranks, info.reach));
        run.lines.push_back(fmt::format("links are {}", info.links));
        return;
    }
    const char *transport = core::variable("BATON_TRANSPORT");
    run.lines.push_back(fmt::format("{} on GPUs; transport {}; at most {} channels; {}", ranks,
                                    transport != nullptr ? transport : "auto", info.channels, info.reach));
    run.lines.push_back(fmt::format("links are {}", info.links));
    for (std::size_t rank = 0; rank < run.gpus.size(); ++rank) {
        run.lines.push_back(fmt::format("  rank {}: {}", rank, run.gpus[rank]));
    }
}

void add_peers(RunInfo &run, const Peers &peers) {
    if (!run.versions.nccl.empty()) {
        const char *nvls = std::getenv("NCCL_NVLS_ENABLE");
        run.lines.push_back(
            fmt::format("against NCCL {}; NCCL_NVLS_ENABLE={}", run.versions.nccl, nvls != nullptr ? nvls : ""));
    }
    if (!peers.mpi_memory.empty()) {
        run.lines.push_back(fmt::format("against {} on {}", run.versions.mpi, peers.mpi_memory));
    }
    for (const Peers::Absence &absence : peers.absent) {
        run.lines.push_back(fmt::format("{} is absent: {}", peer_name(absence.kind), absence.reason));
    }
}

}  // namespace

RunInfo describe_run(const Communicator &communicator, const Peers &peers) {
    const baton_info &info = communicator.info();
    std::string mine;
    if (communicator.on_gpu()) {
        mine = fmt::format("{}, {}", gpu::describe_device(), info.device_uuid);
        mine += info.ranks_on_device > 1 ? fmt::format(", shared by {} ranks", info.ranks_on_device) : "";
    }
    RunInfo run;
    const std::vector<std::string> gpus = communicator.world().gather(mine);
    run.processors_of_a_rank = static_cast<int>(communicator.world().min(processors_of_this_rank()));
    if (communicator.rank() != 0) {
        return run;
    }
    run.gpus = communicator.on_gpu() ? gpus : std::vector<std::string>();
    run.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    run.environment = variables_of_libraries();
    const topology::Snapshot machine = topology::discover();
    run.versions = versions_on(machine);
    run.versions.nccl = peers.nccl_version;

    run.lines.push_back(fmt::format("Baton {}; {}; {}", run.versions.baton, run.versions.cuda, run.versions.mpi));
    add_ranks(run, communicator);
    if (run.processors_of_a_rank > 0) {
        run.lines.push_back(fmt::format("each rank may run on {} processor{}", run.processors_of_a_rank,
                                        run.processors_of_a_rank == 1 ? "" : "s"));
    }
    for (const std::string &line : split(topology::summarize(machine), '\n')) {
        run.lines.push_back(line);
    }
    add_peers(run, peers);
    for (const auto &[name, value] : run.environment) {
        const std::string first_line = value.substr(0, value.find('\n'));
        run.lines.push_back(fmt::format("set: {}={}{}", name, topology::printable(first_line),
                                        first_line.size() < value.size() ? " ..." : ""));
    }
    return run;
}

}  // namespace baton::bench::perf
