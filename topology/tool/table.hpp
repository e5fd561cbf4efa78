#pragma once

#include <string>
#include <vector>

namespace baton::topology {

/// Rows of cells as lines of aligned columns: the first column aligned left, the others centered under their heading.
class Table {
public:
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace baton::topology
