#pragma once

#include <algorithm>
#include <vector>

#include "environment.hpp"
#include "statistics.hpp"

namespace baton::bench {

/// The host's seconds from the issue of a call to its return: the median over some rounds of the slowest rank's. A
/// round is a few calls, at most `most`, on a stream that is idle at first: far fewer than the driver queues, so that
/// none waits for the GPU.
template <class Issue>
double host_seconds(const Communicator &communicator, int most, const Issue &issue) {
    constexpr int rounds = 7;
    const int calls = std::clamp(most, 1, 16);
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        communicator.synchronize();
        communicator.world().barrier();
        const double start = seconds_now();
        for (int call = 0; call < calls; ++call) {
            issue();
        }
        times.push_back((seconds_now() - start) / calls);
    }
    communicator.synchronize();
    return median(communicator.world().max(std::move(times)));
}

}  // namespace baton::bench
