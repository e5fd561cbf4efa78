#include "topology/tool/abbreviations.hpp"

#include "topology/graph.hpp"
#include "topology/links.hpp"
#include "topology/names.hpp"

namespace baton::topology {

std::string short_kind(LinkKind kind, int links) {
    switch (kind) {
        case LinkKind::SELF:
            return "X";
        case LinkKind::SAME_DEVICE:
            return "DEV";
        case LinkKind::NVLINK:
        case LinkKind::NVSWITCH:
            return links > 0 ? fmt::format("NV{}", links) : "NV?";
        case LinkKind::NONE:
            return "?";
        default:
            return std::string(name_of(kind));
    }
}

std::string Abbreviations::kind(LinkKind kind, int links) {
    used_.insert(links > 0 && has_nvlinks(kind) ? "NV#" : short_kind(kind, 0));
    return short_kind(kind, links);
}

std::string Abbreviations::word(std::string word) {
    used_.insert(word);
    return word;
}

std::string Abbreviations::legend() const {
    const std::pair<std::string, const char *> entries[] = {
        {"X", meaning_of(LinkKind::SELF)},
        {"DEV", meaning_of(LinkKind::SAME_DEVICE)},
        {"SYS", meaning_of(LinkKind::SYS)},
        {"NODE", meaning_of(LinkKind::NODE)},
        {"PHB", meaning_of(LinkKind::PHB)},
        {"PXB", meaning_of(LinkKind::PXB)},
        {"PIX", meaning_of(LinkKind::PIX)},
        {"C2C", meaning_of(LinkKind::C2C)},
        {"NV#", "# NVLinks at once, direct or by way of NVSwitches"},
        {"NV?", "NVLinks, not known how many"},
        {"?", meaning_of(LinkKind::NONE)},
        {"N/A", "not known"}};
    std::string text;
    for (const auto &[word, meaning] : entries)
        if (used_.contains(word)) text += fmt::format("  {:<4} = {}\n", word, meaning);
    return text.empty() ? text : "Legend:\n" + text;
}

}  // namespace baton::topology
