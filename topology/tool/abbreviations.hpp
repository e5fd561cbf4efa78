#pragma once

#include <fmt/format.h>

#include <set>
#include <string>

#include "topology/snapshot.hpp"

namespace baton::topology {

/// "NV18", "SYS", "X": how the matrix writes it.
std::string short_kind(LinkKind kind, int links);

/// The abbreviations that a text uses. Who writes one notes it here: searched for in the text, names of devices would
/// be taken for some ("GeForce GTX TITAN X").
class Abbreviations {
public:
    /// short_kind(), noted.
    std::string kind(LinkKind kind, int links);
    /// The word, noted; one that needs no explanation is none of the legend's.
    std::string word(std::string word);
    /// The value; the word, noted, where it is not known.
    template <class T>
    std::string known(const Known<T> &value, const char *otherwise) {
        return value.known() ? fmt::format("{}", value.value) : word(otherwise);
    }

    /// What those mean, and no others; empty where there are none.
    std::string legend() const;

private:
    std::set<std::string> used_;
};

}  // namespace baton::topology
