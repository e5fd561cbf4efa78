#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "topology/tool/table.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {

std::string ranks_text(const Machine &machine, Abbreviations &used) {
    const auto &gpus = machine.gpu_of_rank;
    if (gpus.size() < 2) return {};
    if (std::all_of(gpus.begin(), gpus.end(), [](int gpu) { return gpu < 0; }))
        return fmt::format("{} ranks, none with a GPU\n", gpus.size());
    Table table;
    table.add({"rank", "GPU", "PCI address", "NUMA node", "processors", "nearest NICs", "UUID"});
    for (std::size_t rank = 0; rank < machine.ranks.ranks.size(); ++rank) {
        const RankAdvice &advice = machine.ranks.ranks[rank];
        std::vector<std::string> nics;
        for (const NearNic &near : advice.nearest_nics)
            nics.push_back(fmt::format("{} ({})", machine.snapshot.nics[static_cast<std::size_t>(near.nic)].name,
                                       used.kind(near.kind, 0)));
        table.add({fmt::format("{}", rank), advice.gpu < 0 ? "none" : fmt::format("{}", advice.gpu),
                   advice.pci.known() ? to_string(advice.pci.value) : used.word("?"), used.known(advice.numa_node, "?"),
                   used.known(advice.cpuset, "?"),
                   nics.empty() ? used.word("?") : fmt::format("{}", fmt::join(nics, ", ")),
                   used.known(advice.uuid, "?")});
    }
    return table.text() + ring_of_ranks_text(machine, used);
}

}  // namespace baton::topology
