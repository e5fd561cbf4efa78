#include "topology/tool/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace baton::topology {

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (const auto &row : rows_) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t column = 0; column < row.size(); ++column)
            widths[column] = std::max(widths[column], row[column].size());
    }
    std::string result;
    for (const auto &row : rows_) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column)
            line += column == 0 ? fmt::format("{:<{}}", row[column], widths[column])
                                : fmt::format("  {:^{}}", row[column], widths[column]);
        line.erase(line.find_last_not_of(' ') + 1);
        result += line + "\n";
    }
    return result;
}

}  // namespace baton::topology
