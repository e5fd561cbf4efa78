#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology/links.hpp"
#include "topology/tool/text.hpp"

namespace baton::topology {
namespace {

std::string bottleneck_text(const Ring &ring, Abbreviations &used) {
    const std::string kind = used.word(link_name(ring.bottleneck_kind));
    if (!ring.bottleneck_mbps.known()) return fmt::format("bandwidth unknown ({})", kind);
    return fmt::format("{} GB/s per direction ({})", gbps_text(ring.bottleneck_mbps.value), kind);
}

std::string nvlink_groups_text(const std::vector<std::vector<int>> &groups, const char *noun) {
    std::vector<std::string> parts;
    for (const auto &group : groups) parts.push_back(fmt::format("{{{}}}", fmt::join(group, " ")));
    return fmt::format("NVLink islands ({}): {}\n", noun, fmt::join(parts, " "));
}

std::string ring_lines(const CommAdvice &advice, const char *noun, const char *summary, Abbreviations &used) {
    used.word(link_name(advice.weakest));  // in advice.why
    const Ring &ring = advice.ring;
    std::string text = fmt::format("Ring ({}): {} -> {}\n", noun, fmt::join(ring.order, " -> "), ring.order.front());
    text += fmt::format("  bottleneck {}; {}\n", bottleneck_text(ring, used), ring.why);
    return text + nvlink_groups_text(advice.nvlink_groups, noun) + fmt::format("{}: {}\n", summary, advice.why);
}

}  // namespace

std::string ring_text(const Machine &machine, Abbreviations &used) {
    if (machine.gpus.ring.order.size() < 2) return {};
    return shows_ranks(machine) ? ring_lines(machine.gpus, "ranks", "With these ranks", used)
                                : ring_lines(machine.gpus, "GPUs", "With a rank on each GPU", used);
}

std::string ring_of_ranks_text(const Machine &machine, Abbreviations &used) {
    if (machine.ranks.ring.order.size() < 2) return {};
    return ring_lines(machine.ranks, "ranks", "With these ranks", used);
}

}  // namespace baton::topology
