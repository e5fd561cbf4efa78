#pragma once

#include <fmt/format.h>

#include <set>
#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// The kind as the matrix writes it: "NV18", "SYS", "X".
std::string short_kind(LinkKind kind, int links);

/// The abbreviations that a text uses. Whoever writes one notes it here: a search in the finished text would take parts
/// of device names for some ("GeForce GTX TITAN X").
class Abbreviations {
public:
    /// short_kind(), noted.
    std::string kind(LinkKind kind, int links);
    /// The word, noted. A word that needs no explanation is not in the legend.
    std::string word(std::string word);
    /// The value, or, where it is not known, the word, noted.
    template <class T>
    std::string known(const Known<T> &value, const char *otherwise) {
        return value.known() ? fmt::format("{}", value.value) : word(otherwise);
    }

    /// What the noted abbreviations mean, and no others; empty if there are none.
    std::string legend() const;

private:
    std::set<std::string> used_;
};

}  // namespace baton::topology
