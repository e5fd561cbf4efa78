#include "topology/tool/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "topology/groups.hpp"
#include "topology/names.hpp"

namespace baton::topology {

Machine make_machine(std::string origin, Snapshot snapshot, std::vector<int> gpu_of_rank) {
    Machine machine;
    machine.origin = std::move(origin);
    machine.snapshot = std::move(snapshot);
    machine.graph = make_graph(machine.snapshot);
    std::vector<int> all(machine.snapshot.gpus.size());
    std::iota(all.begin(), all.end(), 0);
    machine.gpus = advise_communicator(machine.snapshot, machine.graph, all);
    machine.gpu_of_rank = std::move(gpu_of_rank);
    if (!machine.gpu_of_rank.empty())
        machine.ranks = advise_communicator(machine.snapshot, machine.graph, machine.gpu_of_rank);
    return machine;
}

std::string model_of(const std::string &name) {
    const std::size_t open = name.find('['), close = name.rfind(']');
    if (open == std::string::npos || close == std::string::npos || close < open) return name;
    return name.substr(open + 1, close - open - 1);
}

bool shows_ranks(const Machine &machine) { return machine.snapshot.of_ranks.value; }

const char *noun_of(const Machine &machine) { return shows_ranks(machine) ? "rank" : "GPU"; }

TransportAdvice transport_of(const Machine &machine, const Pair &pair) {
    if (shows_ranks(machine)) return {Advised::none, "ranks of a communicator"};
    return advise_pair(pair);
}

bool any_measured(const Graph &graph) {
    return std::any_of(graph.pairs.begin(), graph.pairs.end(),
                       [](const Pair &pair) { return pair.measured_mbps.known(); });
}

std::string short_address(const PciAddress &address) {
    const std::string text = to_string(address);
    return address.domain == 0 ? text.substr(text.find(':') + 1) : text;
}

std::string gpus_text(const Snapshot &snapshot) {
    if (snapshot.of_ranks.value) return counted(snapshot.gpus.size(), "rank") + " of a communicator";
    Groups kinds;
    for (const Gpu &gpu : snapshot.gpus)
        kinds.add((gpu.name.empty() ? "GPU" : model_of(gpu.name)) + (gpu.mig ? " (MIG)" : ""), {});
    if (kinds.list.empty()) return "no GPU";
    std::vector<std::string> parts;
    for (const auto &[name, gpus] : kinds.list) parts.push_back(fmt::format("{} x {}", gpus.size(), name));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string host_text(const Snapshot &snapshot) {
    const Host &host = snapshot.host;
    if (host.source == Source::none) return "processors unknown";
    std::vector<std::string> parts;
    if (host.packages > 0) parts.push_back(counted(host.packages, "socket"));
    if (host.cores > 0) parts.push_back(counted(host.cores, "core"));
    if (host.numa_nodes > 0) parts.push_back(counted(host.numa_nodes, "NUMA node"));
    if (parts.empty()) return host.cpu_model.empty() ? "processors unknown" : host.cpu_model;
    return fmt::format("{}{}{}", fmt::join(parts, ", "), host.cpu_model.empty() ? "" : ": ", host.cpu_model);
}

}  // namespace baton::topology
