#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace baton::bench::perf {

/// In which order the contenders of a row run in a round: each time another one of them first.
std::vector<std::size_t> round_order(std::size_t contenders, int round);

/// A peer's time as the ratio sees it: nothing where it has no result or a wrong one.
using PeerTime = std::optional<double>;

/// The index of the smallest; nothing where there is none.
std::optional<std::size_t> best_of(const std::vector<PeerTime> &peers);

/// Calls in a round: as many as fit `round_seconds`, from 1 to `most`.
int calls_for(double round_seconds, double call_seconds, int most);

/// The calls of a peer, each of which takes `call_seconds`: as many as Baton's, so that what a round costs besides them
/// is shared alike. Fewer only where that would take more than four times `round_seconds`.
int calls_of_peer(double round_seconds, double call_seconds, int calls_of_baton);

/// 0 for no values. REQUIRES: values > 0.
double geometric_mean(const std::vector<double> &values);

}  // namespace baton::bench::perf
