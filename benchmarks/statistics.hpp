#pragma once

#include <vector>

namespace baton::bench {

/// The smallest value that at least `percent` per cent of the values do not exceed (nearest rank). REQUIRES: not empty.
double percentile(std::vector<double> values, double percent);
double median(std::vector<double> values);

}  // namespace baton::bench
