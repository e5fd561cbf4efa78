#pragma once

#include <string>
#include <vector>

#include "topology/tool/svg.hpp"

/// What the tests read out of a picture.
namespace baton::topology::checks {

/// The cards' outlines.
std::vector<svg::Box> cards_in(const std::string &picture);

/// The first words that are wider than their cell of the matrix; empty: all fit.
std::string too_wide_for_its_cell(const std::string &picture);

std::size_t count(const std::string &text, const std::string &part);

/// Expects the legend to have each color of a line, each shade of the matrix, each abbreviation of a link, and red
/// words if there are any; and no others.
void expect_legend_of(const std::string &picture);

}  // namespace baton::topology::checks
