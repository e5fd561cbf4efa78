#include "topology/index_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "topology/limits.hpp"
#include "util/parse_number.hpp"

namespace baton::topology {
namespace {

constexpr int group_bits = 32;

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t comma = 0; comma != std::string_view::npos;) {
        comma = text.find(',');
        parts.push_back(text.substr(0, comma));
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return parts;
}

}  // namespace

std::optional<IndexSet> IndexSet::from_mask(std::string_view text) {
    IndexSet set;
    if (text.empty()) return set;
    // A group has at most 10 characters and a comma: longer texts are refused unread.
    if (text.size() > max_pus / group_bits * 11) return std::nullopt;
    std::vector<std::string_view> groups = split(text);
    std::reverse(groups.begin(), groups.end());
    for (const std::string_view group : groups) {
        const bool prefixed = group.starts_with("0x");
        const auto bits =
            group.empty() ? std::optional(0u) : core::parse_number<std::uint32_t>(group.substr(prefixed ? 2 : 0), 16);
        if (!bits) return std::nullopt;
        set.groups_.push_back(*bits);
    }
    while (!set.groups_.empty() && set.groups_.back() == 0) set.groups_.pop_back();
    if (set.groups_.size() > max_pus / group_bits) return std::nullopt;
    return set;
}

std::optional<IndexSet> IndexSet::from_list(std::string_view text) {
    IndexSet set;
    if (text.empty()) return set;
    std::size_t least = 0;
    for (const std::string_view part : split(text)) {
        const std::size_t dash = part.find('-');
        const auto first = core::parse_number<std::size_t>(part.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : core::parse_number<std::size_t>(part.substr(dash + 1));
        if (!first || !last || *first < least || *last < *first || *last >= max_pus) return std::nullopt;
        set.insert_range(*first, *last);
        least = *last + 1;
    }
    return set;
}

void IndexSet::insert_range(std::size_t first, std::size_t last) {
    if (groups_.size() <= last / group_bits) groups_.resize(last / group_bits + 1, 0);
    for (std::size_t group = first / group_bits; group <= last / group_bits; ++group) {
        const std::size_t low = group * group_bits;
        std::uint32_t bits = ~0u;
        if (first > low) bits &= ~0u << (first - low);
        if (last < low + group_bits - 1) bits &= ~0u >> (low + group_bits - 1 - last);
        groups_[group] |= bits;
    }
}

void IndexSet::insert(const IndexSet &other) {
    if (groups_.size() < other.groups_.size()) groups_.resize(other.groups_.size(), 0);
    for (std::size_t group = 0; group < other.groups_.size(); ++group) groups_[group] |= other.groups_[group];
}

bool IndexSet::intersects(const IndexSet &other) const {
    for (std::size_t group = 0; group < std::min(groups_.size(), other.groups_.size()); ++group)
        if (groups_[group] & other.groups_[group]) return true;
    return false;
}

bool IndexSet::contains(const IndexSet &other) const {
    if (other.groups_.size() > groups_.size()) return false;
    for (std::size_t group = 0; group < other.groups_.size(); ++group)
        if (other.groups_[group] & ~groups_[group]) return false;
    return true;
}

IndexSet IndexSet::intersection(const IndexSet &other) const {
    IndexSet both;
    for (std::size_t group = 0; group < std::min(groups_.size(), other.groups_.size()); ++group)
        both.groups_.push_back(groups_[group] & other.groups_[group]);
    while (!both.groups_.empty() && both.groups_.back() == 0) both.groups_.pop_back();
    return both;
}

std::vector<int> IndexSet::members() const {
    std::vector<int> all;
    for (std::size_t group = 0; group < groups_.size(); ++group)
        for (int bit = 0; bit < group_bits; ++bit)
            if (groups_[group] >> bit & 1) all.push_back(static_cast<int>(group) * group_bits + bit);
    return all;
}

int IndexSet::lowest() const {
    std::size_t group = 0;
    while (groups_[group] == 0) ++group;
    return static_cast<int>(group) * group_bits + std::countr_zero(groups_[group]);
}

std::string IndexSet::to_list() const {
    const std::vector<int> all = members();
    std::string text;
    for (std::size_t first = 0; first < all.size();) {
        std::size_t last = first;
        while (last + 1 < all.size() && all[last + 1] == all[last] + 1) ++last;
        text += text.empty() ? "" : ",";
        text += first == last ? fmt::format("{}", all[first]) : fmt::format("{}-{}", all[first], all[last]);
        first = last + 1;
    }
    return text;
}

std::string IndexSet::to_mask() const {
    std::string text;
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group)
        text += fmt::format("{}0x{:08x}", text.empty() ? "" : ",", *group);
    return text.empty() ? "0x0" : text;
}

}  // namespace baton::topology
