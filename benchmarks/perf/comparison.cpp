#include "perf/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace baton::bench::perf {

std::vector<std::size_t> round_order(std::size_t contenders, int round) {
    std::vector<std::size_t> order;
    for (std::size_t step = 0; step < contenders; ++step) {
        order.push_back((static_cast<std::size_t>(round) + step) % contenders);
    }
    return order;
}

std::optional<std::size_t> best_of(const std::vector<PeerTime> &peers) {
    std::optional<std::size_t> best;
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
        if (peers[peer] && (!best || *peers[peer] < *peers[*best])) {
            best = peer;
        }
    }
    return best;
}

int calls_for(double round_seconds, double call_seconds, int most) {
    return static_cast<int>(std::clamp(std::floor(round_seconds / std::max(call_seconds, 1e-9)), 1.0, 1.0 * most));
}

int calls_of_peer(double round_seconds, double call_seconds, int calls_of_baton) {
    return calls_for(4 * round_seconds, call_seconds, calls_of_baton);
}

double geometric_mean(const std::vector<double> &values) {
    if (values.empty()) {
        return 0;
    }
    double sum = 0;
    for (const double value : values) {
        sum += std::log(value);
    }
    return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace baton::bench::perf
