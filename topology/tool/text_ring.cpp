#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "topology/links.hpp"
#include "topology/summary.hpp"
#include "topology/tool/table.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

std::string bottleneck_text(const Ring &ring, Abbreviations &used) {
    const std::string kind = used.word(link_name(ring.bottleneck_kind));
    if (!ring.bottleneck_mbps.known()) return fmt::format("bandwidth unknown ({})", kind);
    return fmt::format("{} GB/s per direction ({})", gbps_text(ring.bottleneck_mbps.value), kind);
}

std::string islands_text(const std::vector<std::vector<int>> &islands, const char *noun) {
    std::vector<std::string> parts;
    for (const auto &island : islands) parts.push_back(fmt::format("{{{}}}", fmt::join(island, " ")));
    return fmt::format("NVLink islands ({}): {}\n", noun, fmt::join(parts, " "));
}

std::string ring_lines(const CommAdvice &advice, const char *noun, const char *summary, Abbreviations &used) {
    used.word(link_name(advice.weakest));  // in advice.why
    const Ring &ring = advice.ring;
    std::string text = fmt::format("Ring ({}): {} -> {}\n", noun, fmt::join(ring.order, " -> "), ring.order.front());
    text += fmt::format("  bottleneck {}; {}\n", bottleneck_text(ring, used), ring.why);
    return text + islands_text(advice.islands, noun) + fmt::format("{}: {}\n", summary, advice.why);
}

template <class T>
std::string known_text(const Known<T> &value, Abbreviations &used) {
    return value.known() ? fmt::format("{}", value.value) : used.word("?");
}

}  // namespace

std::string header_text(const Machine &machine) {
    const Snapshot &snapshot = machine.snapshot;
    std::string text = (shows_ranks(machine) ? "" : "GPUs: ") + gpus_text(snapshot);
    if (snapshot.driver.known()) text += "; driver " + snapshot.driver.value;
    if (snapshot.cuda_driver_version > 0)
        text += fmt::format(" (CUDA {})", cuda_version_text(snapshot.cuda_driver_version));
    return text + "\nHost: " + host_text(snapshot) + "\n";
}

std::string ring_text(const Machine &machine, Abbreviations &used) {
    if (machine.gpus.ring.order.size() < 2) return {};
    return shows_ranks(machine) ? ring_lines(machine.gpus, "ranks", "With these ranks", used)
                                : ring_lines(machine.gpus, "GPUs", "With a rank on each GPU", used);
}

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
                   advice.pci.known() ? to_string(advice.pci.value) : used.word("?"),
                   known_text(advice.numa_node, used), known_text(advice.cpuset, used),
                   nics.empty() ? used.word("?") : fmt::format("{}", fmt::join(nics, ", ")),
                   known_text(advice.uuid, used)});
    }
    std::string text = table.text();
    if (machine.ranks.ring.order.size() >= 2) text += ring_lines(machine.ranks, "ranks", "With these ranks", used);
    return text;
}

std::string gaps_text(const Machine &machine) {
    std::string text;
    for (const std::string &gap : machine.snapshot.gaps) text += fmt::format("note: {}\n", gap);
    return text;
}

}  // namespace baton::topology
