#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace baton::bench::perf {

/// The order in which the contenders of a row run in a round: another one is first each time.
std::vector<std::size_t> round_order(std::size_t contenders, int round);

/// A peer's time for the ratio; empty if it has no result or a wrong one.
using PeerTime = std::optional<double>;

/// The index of the smallest; empty if there is none.
std::optional<std::size_t> best_of(const std::vector<PeerTime> &peers);

/// Calls in a round: as many as fit into `round_seconds`, from 1 to `most`.
int calls_for(double round_seconds, double call_seconds, int most);

/// Calls of a peer, each of which takes `call_seconds`: as many as Baton's, so that a round's other costs are spread
/// over as many calls. Fewer only if they would take more than four times `round_seconds`.
int calls_of_peer(double round_seconds, double call_seconds, int calls_of_baton);

/// Returns 0 for no values. REQUIRES: values > 0.
double geometric_mean(const std::vector<double> &values);

}  // namespace baton::bench::perf
