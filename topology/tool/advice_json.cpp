#include "topology/tool/advice_json.hpp"

#include <nlohmann/json.hpp>

#include "topology/names.hpp"

namespace baton::topology {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json known(const Known<T> &value) {
    return value.known() ? ordered_json(value.value) : ordered_json();
}

ordered_json address(const Known<PciAddress> &value) {
    return value.known() ? ordered_json(to_string(value.value)) : ordered_json();
}

ordered_json gbps(const Known<int> &mbps) { return mbps.known() ? ordered_json(mbps.value / 1000.0) : ordered_json(); }

ordered_json pair_json(const Machine &machine, std::size_t from, std::size_t to) {
    const Pair &pair = machine.graph.pair(from, to);
    const TransportAdvice advice = transport_of(machine, pair);
    return {{"from", from},
            {"to", to},
            {"kind", name_of(pair.kind.value)},
            {"links", pair.links},
            {"nominal_gbps", gbps(pair.nominal_mbps)},
            {"nominal_source", name_of(pair.nominal_mbps.source)},
            {"measured_gbps", gbps(pair.measured_mbps)},
            {"hops", known(pair.hops)},
            {"p2p_read", known(pair.p2p_read)},
            {"p2p_write", known(pair.p2p_write)},
            {"p2p_atomics", known(pair.p2p_atomics)},
            {"transport", name_of(advice.transport)},
            {"kind_because", pair.why},
            {"transport_because", advice.why}};
}

ordered_json rank_json(const Machine &machine, const RankAdvice &rank) {
    ordered_json nics = ordered_json::array();
    for (const NearNic &near : rank.nearest_nics)
        nics.push_back(
            {{"nic", machine.snapshot.nics[static_cast<std::size_t>(near.nic)].name}, {"kind", name_of(near.kind)}});
    return {{"gpu", rank.gpu < 0 ? ordered_json() : ordered_json(rank.gpu)},
            {"uuid", known(rank.uuid)},
            {"pci", address(rank.pci)},
            {"cpuset", known(rank.cpuset)},
            {"numa_node", known(rank.numa_node)},
            {"nearest_nics", nics}};
}

ordered_json communicator_json(const Machine &machine, const CommAdvice &advice, const char *members) {
    ordered_json list = ordered_json::array();
    for (const RankAdvice &rank : advice.ranks) list.push_back(rank_json(machine, rank));
    return {{members, list},
            {"uniform", advice.uniform},
            {"all_p2p", advice.all_p2p},
            {"fully_linked", advice.fully_linked},
            {"weakest", name_of(advice.weakest)},
            {"islands", advice.nvlink_groups},
            {"ring", advice.ring.order},
            {"ring_bottleneck_gbps", gbps(advice.ring.bottleneck_mbps)},
            {"ring_bottleneck_kind", name_of(advice.ring.bottleneck_kind)},
            {"ring_is_optimal", advice.ring.exact},
            {"because", advice.why}};
}

}  // namespace

std::string advice_to_json(const Machine &machine) {
    ordered_json pairs = ordered_json::array();
    for (std::size_t from = 0; from < machine.graph.gpus; ++from)
        for (std::size_t to = 0; to < machine.graph.gpus; ++to)
            if (from != to) pairs.push_back(pair_json(machine, from, to));
    ordered_json all{{"baton_advice", 1},
                     {"machine", communicator_json(machine, machine.gpus, shows_ranks(machine) ? "ranks" : "gpus")},
                     {"pairs", pairs}};
    if (!machine.gpu_of_rank.empty()) all["job"] = communicator_json(machine, machine.ranks, "ranks");
    return all.dump(2, ' ', true, ordered_json::error_handler_t::replace);
}

}  // namespace baton::topology
