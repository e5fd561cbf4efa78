#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace baton::bench {

double percentile(std::vector<double> values, double percent) {
    const double rank = std::ceil(percent * static_cast<double>(values.size()) / 100);
    const std::size_t index = std::clamp<std::size_t>(static_cast<std::size_t>(rank), 1, values.size()) - 1;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
    return values[index];
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace baton::bench
