#pragma once

#include <string>
#include <vector>

#include "collectives/plan.hpp"
#include "collectives/tuning.hpp"
#include "kinds.hpp"

namespace baton::bench::tune {

inline constexpr std::size_t smallest_bytes = 256;

/// An operation of the tuning table, and what measures it.
struct Tuned {
    baton_operation operation;
    Kind kind;
};
/// The table's operations that the benchmarks know by the same name, and send, which is measured as a ring.
const std::vector<Tuned> &tuned_kinds();

/// A row without sizes: a way to run an operation, with a number of channels (0: as many as there are).
using Candidate = core::TuningRow;

/// Where the ranks' data are, and whether they reach each other's.
enum class Ranks {
    on_host,
    on_gpus,
    on_gpus_apart  // which exchange data through host memory
};

/// All ways that `ranks` ranks have there. Kernels come with 1, 2, 4, ... channels and with all `channels`.
std::vector<Candidate> candidates_for(baton_operation operation, Ranks where, int ranks, int channels,
                                      bool copy_engines);

/// "push by kernel, 4 channels"; without a number if it is open (0).
std::string name_of(const Candidate &candidate);
/// Likewise, with the number of channels that it uses.
std::string name_of(const core::Plan &plan);

/// The text of a tuning file with one table, for this key, in which the candidate is the only row of the operation.
std::string tuning_with(const core::TuningKey &key, baton_operation operation, const Candidate &candidate);

/// Whether the plan is that of the candidate. It is not if, for instance, packets do not fit.
bool runs_as(const Candidate &candidate, const core::Plan &plan);

/// The row that stands for a plan on a communicator of `channels` channels.
Candidate row_of(const core::Plan &plan, int channels);

/// Powers of two from smallest_bytes up. None for messages if all of them would be buffered: those go in packets, and
/// their row would stand for all longer messages.
std::vector<std::size_t> sizes_for(baton_operation operation, std::size_t max_bytes);

}  // namespace baton::bench::tune
