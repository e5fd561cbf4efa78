#include "tests/topology/picture_checks.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <regex>
#include <set>
#include <sstream>

namespace baton::topology::checks {
namespace {

/// What follows `mark` in all lines that start with `begin`, up to the next quote.
std::set<std::string> values(const std::string &text, const std::string &begin, const std::string &mark) {
    std::set<std::string> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t at = line.find(mark); line.starts_with(begin) && at != std::string::npos)
            found.insert(line.substr(at + mark.size(), line.find('"', at + mark.size()) - at - mark.size()));
    return found;
}

/// Abbreviations of links that `end` follows: "NV18", "NV?", "SYS".
std::set<std::string> links_in(const std::string &text, const std::string &end) {
    std::set<std::string> found;
    const std::regex link(">(NV[0-9?]+|C2C|DEV|PIX|PXB|PHB|NODE|SYS|\\?)" + end);
    for (auto match = std::sregex_iterator(text.begin(), text.end(), link); match != std::sregex_iterator(); ++match)
        found.insert((*match)[1]);
    return found;
}

}  // namespace

std::vector<svg::Box> cards_in(const std::string &picture) {
    std::vector<svg::Box> boxes;  // white, with a border of 1.5
    std::istringstream lines(picture);
    for (std::string line; std::getline(lines, line);) {
        if (line.find("fill=\"#ffffff\" stroke=") == std::string::npos || line.find("\"1.5\"/>") == std::string::npos)
            continue;
        svg::Box box;
        if (std::sscanf(line.c_str(), "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\" rx=\"6\"", &box.x, &box.y,
                        &box.width, &box.height) == 4)
            boxes.push_back(box);
    }
    return boxes;
}

std::string too_wide_for_its_cell(const std::string &picture) {
    std::istringstream lines(picture);
    double cell = 0;  // 0: outside of one
    for (std::string line; std::getline(lines, line);) {
        double x = 0, y = 0, width = 0, size = 0;
        if (line.starts_with("<g>") || line == "</g>") cell = 0;
        if (line.find("fill=\"#f5f7fa\" stroke=\"#ffffff\"") != std::string::npos) continue;  // the diagonal
        if (line.find("stroke=\"#ffffff\"") != std::string::npos &&
            std::sscanf(line.c_str(), "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\"", &x, &y, &width) == 3)
            cell = width;
        if (cell == 0 || std::sscanf(line.c_str(), "<text x=\"%lf\" y=\"%lf\" font-size=\"%lf\"", &x, &y, &size) != 3)
            continue;
        const std::size_t begin = line.find('>') + 1;
        const std::string words = line.substr(begin, line.find('<', begin) - begin);
        if (svg::text_width(words, {size}) > cell) return words;
    }
    return {};
}

std::size_t count(const std::string &text, const std::string &part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

void expect_legend_of(const std::string &picture) {
    const std::size_t legend = picture.find(">Legend</text>");
    const std::string drawn = picture.substr(0, legend);
    const std::string explained = legend == std::string::npos ? "" : picture.substr(legend);
    EXPECT_EQ(values(drawn, "<path", " stroke=\""), values(explained, "<path", " stroke=\""));
    EXPECT_EQ(values(drawn, "<path", "dasharray=\""), values(explained, "<path", "dasharray=\""));
    std::set<std::string> cells;
    std::istringstream lines(drawn);
    for (std::string line; std::getline(lines, line);)
        if (line.find("stroke=\"#ffffff\"") != std::string::npos) cells.merge(values(line, "<rect", "fill=\""));
    cells.erase("#f5f7fa");  // the diagonal
    EXPECT_EQ(cells, values(explained, "<rect", "fill=\""));
    EXPECT_EQ(links_in(drawn, "<"), links_in(explained, ":"));
    EXPECT_EQ(drawn.find("#c81e1e") == std::string::npos, explained.find("#c81e1e") == std::string::npos);
}

}  // namespace baton::topology::checks
