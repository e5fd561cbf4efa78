#pragma once

#include <map>
#include <string>
#include <vector>

#include "environment.hpp"
#include "kinds.hpp"

namespace baton::bench {

/// What this machine allows a call, measured in the same run as the calls: in seconds, and in bytes a second that each
/// rank sends while all do. 0 if not measured.
struct Limits {
    double launch = 0;       // GPU: an empty kernel, one of many launched in a row or in a graph
    double launch_host = 0;  // GPU: what such a launch costs the host
    double flight = 0;       // a flag from one rank to another
    struct Copies {
        std::size_t bytes = 0;  // sent at once by a rank
        double bandwidth = 0;
    };
    /// By ascending bytes. One size on GPUs; several on the host, where caches make small copies faster.
    std::map<Traffic, std::vector<Copies>> copies;
    std::vector<std::string> how;  // lines for people, with the figures

    double latency() const { return launch + flight; }
    /// The bandwidth of the smallest copies measured that are not smaller than `bytes`, else of the largest. For
    /// all_pairs the larger of all_pairs and ring, because a rank can send to all ranks as fast as to one, even if the
    /// measured copies do not.
    double bandwidth(Traffic traffic, double bytes) const;
    /// The least time of a call for which the busiest rank must send `bytes`; 0 if unknown.
    double seconds(Traffic traffic, double bytes) const;

private:
    double measured(Traffic traffic, double bytes) const;
};

const char *traffic_name(Traffic traffic);

/// Collective. `graph`: measures launches inside CUDA graphs.
Limits measure_limits(const Communicator &communicator, bool graph);

}  // namespace baton::bench
