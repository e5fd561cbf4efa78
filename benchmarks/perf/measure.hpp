#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton_library.hpp"
#include "limits/limits.hpp"
#include "peers/peer.hpp"
#include "perf/sweep.hpp"
#include "verifier.hpp"

namespace baton::bench::perf {

/// How one side of a row, Baton or a peer, did in its rounds.
struct Timing {
    std::string absent;         // a peer's reason for having no figures; empty if it has
    bool other_memory = false;  // a peer on host memory while Baton is on GPUs, which is no contest
    int calls = 0;              // in a round
    std::vector<double> times;  // seconds per call of each round, on the slowest rank
    double median = 0;          // seconds
    double p99 = 0;
    double host = 0;          // seconds from a call's issue to its return; 0: not measured
    std::uint64_t wrong = 0;  // elements, of all ranks and rounds
};

struct Row {
    Shape shape;
    std::size_t bytes = 0;  // the size column
    Timing own;
    double algorithm_bandwidth = 0;  // bytes a second
    double bus_bandwidth = 0;
    std::string explanation;  // of rank 0
    // Of a comparison:
    std::vector<Timing> peers;        // in the peers' order
    std::optional<std::size_t> best;  // the fastest of the peers with a right result on Baton's kind of memory
    double ratio = 0;                 // the time of the best / Baton's; 0 if there is none
    double limit = 0;                 // seconds; 0: not known
};

/// What all rows are measured with. Without peers there is no comparison.
struct Bench {
    const Options &options;
    const Communicator &communicator;
    const Verifier &verifier;
    const std::vector<std::unique_ptr<Peer>> &peers;
};

/// Compares Baton's time with the peers' and with what the machine allows.
void compare(Row &row, const Limits &limits, int ranks);

/// Times and verifies one shape by Baton and, in a comparison, by the peers in alternation. Collective; the row is
/// complete on rank 0, and `wrong` on all ranks.
Row measure(const Bench &bench, const Shape &shape, Mode mode, const Limits &limits, BatonLibrary &baton);

}  // namespace baton::bench::perf
