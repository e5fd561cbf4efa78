#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::topology {

/// A set of processing units or NUMA nodes.
class IndexSet {
public:
    /// Reads "0x000000ff,,0xffffffff" (hwloc) and "ff,ffffffff" (Linux, NCCL): groups of 32 bits, the highest first; an
    /// empty group is 0. nullopt for anything else, and for sets without an end ("0xf...f").
    static std::optional<IndexSet> from_mask(std::string_view text);
    /// Reads "0-3,8", rising; nullopt for anything else.
    static std::optional<IndexSet> from_list(std::string_view text);
    /// from_list(), with the empty set for anything else.
    static IndexSet from_list_or_empty(std::string_view text) { return from_list(text).value_or(IndexSet()); }

    void insert(int index) { insert_range(static_cast<std::size_t>(index), static_cast<std::size_t>(index)); }
    void insert(const IndexSet &other);
    bool intersects(const IndexSet &other) const;
    bool contains(const IndexSet &other) const;
    IndexSet intersection(const IndexSet &other) const;
    bool empty() const { return groups_.empty(); }
    std::vector<int> members() const;
    int lowest() const;  ///< REQUIRES: not empty
    std::string to_list() const;
    std::string to_mask() const;  ///< as hwloc writes it

    bool operator==(const IndexSet &) const = default;

private:
    void insert_range(std::size_t first, std::size_t last);

    std::vector<std::uint32_t> groups_;  ///< bits of 32 members each, the lowest first; the last is not 0
};

}  // namespace baton::topology
