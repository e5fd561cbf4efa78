#include "comm/comm_topology.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "comm/links_of.hpp"
#include "topology/advice.hpp"
#include "topology/graph.hpp"
#include "topology/host.hpp"
#include "topology/index_set.hpp"
#include "topology/readers.hpp"
#include "util/failure.hpp"
#include "util/json_field.hpp"

namespace baton::core {
namespace {

using topology::Override;
using topology::Snapshot;

/// Says which entry of the override refuses P2P to the first pair of ranks that it is refused to; empty if there is
/// none. For a GPU that the machine's description lacks (-1) only an entry for all pairs applies.
std::string first_refusal(const Override &said, const Snapshot &machine, const std::vector<int> &gpu_of_rank,
                          const std::vector<std::string> &gpus) {
    for (std::size_t a = 0; a < gpus.size(); ++a)
        for (std::size_t b = a + 1; b < gpus.size(); ++b) {
            if (topology::same_uuid(gpus[a], gpus[b])) continue;
            const std::string entry = p2p_refusal(said, machine, gpu_of_rank[a], gpu_of_rank[b]);
            if (!entry.empty()) return fmt::format("{} refuses P2P between ranks {} and {}", entry, a, b);
        }
    return "";
}

topology::CommAdvice advise(const Snapshot &machine, const std::vector<int> &gpu_of_rank) {
    return advise_communicator(machine, make_graph(machine), gpu_of_rank);
}

CommTopology with_links(const std::optional<Override> &said, const Snapshot &machine,
                        const topology::CommAdvice &advice, const std::vector<int> &gpu_of_rank,
                        const std::vector<std::string> &gpus) {
    CommTopology result;
    result.links = links_of(advice);
    if (said) result.refusal = first_refusal(*said, machine, gpu_of_rank, gpus);
    return result;
}

/// What an override for this number of ranks states: each counts as a GPU of its own, wherever it is.
CommTopology as_said_of_ranks(const Override &said) {
    std::vector<int> each(static_cast<std::size_t>(said.ranks));
    std::iota(each.begin(), each.end(), 0);
    std::vector<std::string> names;
    for (const int rank : each) names.push_back(fmt::format("rank {}", rank));
    const Snapshot machine = apply_override(said, {});
    return with_links(said, machine, advise(machine, each), each, names);
}

std::string not_for(const Override &said, const std::string &communicator) {
    const std::string subject = said.ranks > 0 ? fmt::format("{} ranks", said.ranks) : std::string("GPUs");
    return fmt::format("{} speaks of {}: it is passed over for a communicator of {}", said.origin, subject,
                       communicator);
}

}  // namespace

std::optional<Override> read_topology(const char *setting) {
    const std::string given = setting == nullptr ? "" : setting;
    if (given.empty() || given == "none") return std::nullopt;
    if (is_json_text(given)) return topology::read_override(given, "given as text");
    std::string text;
    try {
        text = topology::read_text_file(given);
    } catch (const Failure &failure) {
        fail(failure.code(), "topology override {} (set BATON_TOPOLOGY to another file, or to none)", failure.what());
    }
    return topology::read_override(text, given);
}

CommTopology host_topology(const std::optional<Override> &said, int ranks) {
    if (said && said->ranks == ranks) return as_said_of_ranks(*said);
    CommTopology result;
    result.links.why = "all ranks meet in host memory";
    if (said) result.note = not_for(*said, fmt::format("{} ranks on host memory", ranks));
    return result;
}

CommTopology gpu_topology(const std::optional<Override> &given, Snapshot machine,
                          const std::vector<std::string> &uuids) {
    const bool of_gpus = given && given->ranks == 0;
    std::vector<int> gpu_of_rank;
    for (const std::string &uuid : uuids) gpu_of_rank.push_back(find_gpu(machine, uuid));
    // Whether lines may be used depends on what the machine says of its links: an override can only forbid them.
    const bool may_be_linked = !of_gpus || advise(machine, gpu_of_rank).fully_linked;
    if (of_gpus) machine = apply_override(*given, std::move(machine));
    const topology::CommAdvice advice = advise(machine, gpu_of_rank);
    CommTopology result = with_links(of_gpus ? given : std::nullopt, machine, advice, gpu_of_rank, uuids);
    if (given && !of_gpus) {
        if (given->ranks == static_cast<int>(uuids.size())) {
            result = as_said_of_ranks(*given);
        } else {
            result.note = not_for(*given, fmt::format("{} ranks on GPUs", uuids.size()));
        }
    }
    result.links.all_nvlink = may_be_linked && advice.fully_linked;
    for (const topology::RankAdvice &rank : advice.ranks)
        result.localities.push_back({rank.numa_node.known() ? rank.numa_node.value : -1,
                                     rank.cpuset.known() ? rank.cpuset.value : std::string()});
    return result;
}

std::string to_text(const CommTopology &topology) {
    nlohmann::json localities = nlohmann::json::array();
    for (const CommTopology::Locality &locality : topology.localities)
        localities.push_back({locality.numa_node, locality.processors});
    const Links &links = topology.links;
    return nlohmann::json{{"shape", links.shape},           {"ring", links.ring},
                          {"island", links.island_of_rank}, {"why", links.why},
                          {"refusal", topology.refusal},    {"localities", localities},
                          {"all_alike", links.all_alike},   {"all_nvlink", links.all_nvlink}}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);  // a GPU's name may be any bytes
}

CommTopology comm_topology_from(const std::string &text) {
    const nlohmann::json all = nlohmann::json::parse(text);
    CommTopology topology;
    all.at("shape").get_to(topology.links.shape);
    all.at("ring").get_to(topology.links.ring);
    all.at("island").get_to(topology.links.island_of_rank);
    all.at("why").get_to(topology.links.why);
    all.at("all_alike").get_to(topology.links.all_alike);
    all.at("all_nvlink").get_to(topology.links.all_nvlink);
    all.at("refusal").get_to(topology.refusal);
    for (const nlohmann::json &locality : all.at("localities"))
        topology.localities.push_back({locality.at(0).get<int>(), locality.at(1).get<std::string>()});
    return topology;
}

Placement placement_at(const CommTopology::Locality *locality) {
    Placement here;
    std::vector<int> near;
    if (locality != nullptr) {
        here.numa_node = locality->numa_node;
        if (const auto set = topology::IndexSet::from_list(locality->processors)) near = set->members();
    }
    if (here.numa_node < 0 && near.empty()) here.numa_node = current_numa_node();
    if (near.empty()) near = topology::sysfs_node_processors(here.numa_node);
    here.processors = processors_near(near, allowed_processors());
    return here;
}

}  // namespace baton::core
